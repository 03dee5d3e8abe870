// expect: dst_slot: its elements are not of the type of src
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<double> area(3);
  auto slot = ctx.registered(area);
#ifndef CORRECTED
  ctx.put(1, 0, slot);
#else
  ctx.put(1.0, 0, slot);
#endif
}
