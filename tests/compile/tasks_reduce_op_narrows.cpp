// expect: reduce: the result of op does not fit into an element: return the element type
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<int> h) {
  using namespace tutti::tasks;
  rt.insert([](int& x) { x += 1; }, reduce(
#ifndef CORRECTED
                                        h, [](auto a, auto b) { return a + 1.0 * b; }, neutral(0)));
#else
                                        h, [](auto a, auto b) { return a + 1 * b; }, neutral(0)));
#endif
}
