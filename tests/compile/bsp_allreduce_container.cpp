// expect: value: a container, but combine() takes one element
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  std::vector<int> all(3);
#ifndef CORRECTED
  ctx.allreduce(all, std::plus<>{});
#else
  ctx.allcombine(all, std::plus<>{});
#endif
}
