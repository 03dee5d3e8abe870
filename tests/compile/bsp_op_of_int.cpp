// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <functional>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  double sum = 1;
#ifndef CORRECTED
  ctx.allreduce(sum, std::plus<int>{});
#else
  ctx.allreduce(sum, std::plus<>{});
#endif
}
