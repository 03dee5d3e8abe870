// expect: dst_slot: takes a global slot, as registered() returns it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
#ifndef CORRECTED
  auto slot = ctx.registered_locally(area);
#else
  auto slot = ctx.registered(area);
#endif
  ctx.put(1, 0, slot);
}
