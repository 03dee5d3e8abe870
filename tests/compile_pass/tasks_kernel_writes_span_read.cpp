// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

void f(tutti::tasks::runtime& rt, tutti::tasks::handle<std::span<double>> h) {
  using namespace tutti::tasks;
  rt.insert([](std::span<const double>) {}, read(h));
}
