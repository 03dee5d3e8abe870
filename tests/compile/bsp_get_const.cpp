// expect: dst: const, but the sync writes to it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
  auto slot = ctx.registered(area);
#ifndef CORRECTED
  const std::vector<int> dst(3);
#else
  std::vector<int> dst(3);
#endif
  ctx.get(0, slot, 0, dst);
}
