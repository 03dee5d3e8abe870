// expect: area: elements are not trivially copyable
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<std::string> area(3);
  auto there = ctx.registered(area);
}
