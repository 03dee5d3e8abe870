// expect: the kernel cannot be called with what its data are
// SPDX-License-Identifier: Apache-2.0

#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
  rt.insert([](auto& x, auto) { x = 1; }, write(h));
}
