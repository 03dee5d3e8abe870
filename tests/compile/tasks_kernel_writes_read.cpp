// expect: a parameter of the kernel does not accept what read(h) passes, a const T&
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](int& x) { x = 1; }, read(h));
#else
  rt.insert([](const int&) {}, read(h));
#endif
}
