// expect: reduce: the parameters of op are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<double> h) {
  using namespace tutti::tasks;
#ifndef CORRECTED
  rt.insert([](double& x) { x += 0.5; }, reduce(h, std::plus<int>{}));
#else
  rt.insert([](double& x) { x += 0.5; }, reduce(h, std::plus<double>{}));
#endif
}
