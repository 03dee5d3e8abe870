// expect: reduce: op has no known neutral element: pass it, reduce(h, op, neutral(v))
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](int& x) { x *= 2; }, reduce(h, [](int a, int b) { return a * b; }));
#else
  rt.insert([](int& x) { x *= 2; }, reduce(
                                        h, [](int a, int b) { return a * b; }, neutral(1)));
#endif
}
