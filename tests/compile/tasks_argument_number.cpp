// expect: an argument after the kernel has no access mode
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](int& x) { x = 1; }, write(h), 3);
#else
  rt.insert([](int& x) { x = 1; }, write(h), on(3));
#endif
}
