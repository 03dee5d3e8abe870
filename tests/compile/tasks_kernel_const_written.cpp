// expect: a parameter of the kernel is const T&, but its argument is write
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](const int&) {}, write(h));
#else
  rt.insert([](int& x) { x = 1; }, write(h));
#endif
}
