// expect: reduce: op has no known neutral element
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <tutti/tasks.hpp>

struct vec {
  float x, y;
  friend vec operator+(const vec& a, const vec& b) { return {a.x + b.x, a.y + b.y}; }
};
void f(tutti::tasks::runtime& rt, tutti::tasks::handle<vec> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](vec& v) { v = v + vec{1, 2}; }, reduce(h, std::plus<>{}));
#else
  rt.insert([](vec& v) { v = v + vec{1, 2}; }, reduce(h, std::plus<>{}, neutral(vec{0, 0})));
#endif
}
