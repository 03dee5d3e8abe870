// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/scattered
//
// Every rank sends to and receives from all others, beginning with its neighbours, a window of messages at a
// time.
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  constexpr int window = 8;
  const int p = s.size, r = s.rank;
  b.copy(block(buffer::input, r, table::in), block(buffer::output, r, table::out));
  b.round();
  const auto pair = [&](int distance, int step) {
    const index up = at(r + distance, step, p), down = at(r - distance, -step, p);
    b.exchange(up, block(buffer::input, up, table::in), down, block(buffer::output, down, table::out));
  };
  const int full = (p - 1) / window;
  b.loop(full, [&] {
    for (int i = 1; i <= window; ++i) pair(i, window);
  });
  for (int d = full * window + 1; d < p; ++d) pair(d, 0);
}

}  // namespace

extern const pure_algorithm alltoallv_scattered;
const pure_algorithm alltoallv_scattered = {
    .name = "alltoallv/scattered",
    .what = collective::alltoallv,
    .needs = restriction::not_in_place,
    .idea =
        "Every rank sends to and receives from all others, beginning with its neighbours, a window of "
        "messages at a time.",
    .source = "folklore; Thakur, Rabenseifner, Gropp 2005",
    .rounds = "ceil((p - 1) / window)",
    .bytes = "n",
    .scratch = "0",
    .write = write,
};

}  // namespace tutti::algorithms
