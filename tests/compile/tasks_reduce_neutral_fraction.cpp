// expect: reduce: neutral(v): v is not convertible to an element
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
  rt.insert([](int& x) { x *= 3; }, reduce(
#ifndef CORRECTED
                                        h, [](int a, int b) { return a * b; }, neutral(1.5)));
#else
                                        h, [](int a, int b) { return a * b; }, neutral(1)));
#endif
}
