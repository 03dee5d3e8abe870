// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  bool area[3];
  auto there = ctx.registered(area);
  bool given[2] = {};
  ctx.put(given, 0, there);
}
