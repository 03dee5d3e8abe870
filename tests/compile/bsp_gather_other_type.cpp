// expect: dst: its elements are not of the type of src
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
#ifndef CORRECTED
  int src = 1;
#else
  long src = 1;
#endif
  std::vector<long> dst(ctx.nprocs());
  ctx.gather(src, dst);
}
