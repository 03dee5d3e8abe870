// SPDX-License-Identifier: Apache-2.0
#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  int sum = 1;
  ctx.allreduce(sum, [](auto a, auto b) { return a + 1 * b; });
}
