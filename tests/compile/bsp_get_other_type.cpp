// expect: src_slot: its elements are not of the type of dst
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
  auto slot = ctx.registered(area);
#ifndef CORRECTED
  long dst = 0;
#else
  int dst = 0;
#endif
  ctx.get(0, slot, 0, dst);
}
