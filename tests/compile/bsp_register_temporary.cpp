// expect: area: a temporary, gone before anybody can use it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

#ifndef CORRECTED
void f(tutti::bsp::context& ctx) { auto slot = ctx.registered(std::vector<int>(3)); }
#else
void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
  auto slot = ctx.registered(area);
}
#endif
