// expect: reduce: op has a state: pass a callable that captures nothing
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  int m = 7;
  rt.insert([](int& x) { x += 1; }, reduce(h, [m](int a, int b) { return (a + b) % m; }));
#else
  rt.insert([](int& x) { x += 1; }, reduce(
                                        h, [](int a, int b) { return (a + b) % 7; }, neutral(0)));
#endif
}
