// expect: data: a temporary container: it would be destroyed at once
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt) { return rt.data(std::vector<int>(3), 0); }
#else
auto f(tutti::tasks::runtime& rt) {
  static std::vector<int> v(3);
  return rt.data(v, 0);
}
#endif
