// expect: op: cannot be called with two elements and return one
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  int sum = 1;
#ifndef CORRECTED
  ctx.allreduce(sum, [](int a) { return a; });
#else
  ctx.allreduce(sum, [](int a, int b) { return a + b; });
#endif
}
