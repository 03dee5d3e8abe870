// expect: src: a pointer, not a buffer: pass std::span(p, n)
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> area(3);
  auto slot = ctx.registered(area);
  int* p = area.data();
#ifndef CORRECTED
  ctx.put(p, 0, slot);
#else
  ctx.put(std::span(p, 1), 0, slot);
#endif
}
