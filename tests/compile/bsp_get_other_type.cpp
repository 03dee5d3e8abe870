// expect: src_slot: its elements are not of the type of dst
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
  auto there = ctx.registered(area);
#ifndef CORRECTED
  long taken = 0;
#else
  int taken = 0;
#endif
  ctx.get(0, there, 0, taken);
}
