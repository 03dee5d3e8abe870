// expect: data: T is not trivially copyable, or const
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) {
#ifndef CORRECTED
  std::vector<std::string> v(3);
#else
  static std::vector<char> v(3);
#endif
  return rt.data(v, 0);
}
