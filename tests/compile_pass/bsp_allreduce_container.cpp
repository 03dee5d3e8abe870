// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> all(3);
  ctx.allcombine(all, std::plus<>{});
}
