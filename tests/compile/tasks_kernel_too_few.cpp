// expect: the kernel must have as many parameters as there are data
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](int& x) { x = 1; }, write(h), read(h));
#else
  rt.insert([](int& x, int) { x = 1; }, write(h), read(h));
#endif
}
