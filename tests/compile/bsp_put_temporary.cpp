// expect: src: a temporary container, gone before the sync reads it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
#ifndef CORRECTED
  std::vector<int> area(3);
#else
  std::vector<int> area(3), src(2);
#endif
  auto slot = ctx.registered(area);
#ifndef CORRECTED
  ctx.put(std::vector<int>(2), 0, slot);
#else
  ctx.put(src, 0, slot);
#endif
}
