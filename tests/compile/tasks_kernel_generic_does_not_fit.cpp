// expect: the kernel cannot be called with its data
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](auto& x, auto) { x = 1; }, write(h));
#else
  rt.insert([](auto& x) { x = 1; }, write(h));
#endif
}
