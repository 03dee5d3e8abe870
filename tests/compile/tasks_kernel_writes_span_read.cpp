// expect: or a span of const: pass read_write(h), or make it const
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<std::span<double>> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](std::span<double> x) { x[0] = 1; }, read(h));
#else
  rt.insert([](std::span<const double>) {}, read(h));
#endif
}
