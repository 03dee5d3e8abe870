// expect: area: elements are not trivially copyable
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
#ifndef CORRECTED
  std::vector<std::string> area(3);
#else
  std::vector<std::array<char, 8>> area(3);
#endif
  auto slot = ctx.registered(area);
}
