// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<std::array<char, 8>> area(3);
  auto there = ctx.registered(area);
}
