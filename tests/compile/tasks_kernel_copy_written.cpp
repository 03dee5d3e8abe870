// expect: a parameter of the kernel is a copy of a write argument
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](int x) { x = 1; }, read_write(h));
#else
  rt.insert([](int& x) { x = 1; }, read_write(h));
#endif
}
