// expect: data: not a contiguous container (data() and size())
// SPDX-License-Identifier: Apache-2.0
#include <list>
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) {
#ifndef CORRECTED
  std::list<int> all(3);
#else
  std::vector<int> all(3);
#endif
  ctx.broadcast(all);
}
