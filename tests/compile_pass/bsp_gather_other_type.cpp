// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
  long given = 1;
  std::vector<long> taken(ctx.nprocs());
  ctx.gather(given, taken);
}
