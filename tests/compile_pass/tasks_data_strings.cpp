// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) {
  static std::vector<char> v(3);
  return rt.data(v, 0);
}
