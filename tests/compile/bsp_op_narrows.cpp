// expect: op: its result does not fit into an element: return the element type
// SPDX-License-Identifier: Apache-2.0
#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  int sum = 1;
#ifndef CORRECTED
  ctx.allreduce(sum, [](auto a, auto b) { return a + 1.0 * b; });
#else
  ctx.allreduce(sum, [](auto a, auto b) { return a + 1 * b; });
#endif
}
