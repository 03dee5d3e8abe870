// expect: src: std::vector<bool> packs bits, it has no bools
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  bool area[3];
  auto slot = ctx.registered(area);
#ifndef CORRECTED
  std::vector<bool> src(2);
#else
  bool src[2] = {};
#endif
  ctx.put(src, 0, slot);
}
