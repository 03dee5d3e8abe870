// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<double> h) {
  using namespace tutti::tasks;
  rt.insert([](double& x) { x += 0.5; }, reduce(h, std::plus<double>{}));
}
