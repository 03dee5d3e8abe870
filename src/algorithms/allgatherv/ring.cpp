// SPDX-License-Identifier: Apache-2.0
//
// allgatherv/ring
//
// Blocks travel around the ring: in each of p - 1 steps a rank passes on the block that it received in the
// step before.
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, up = (r + 1) % p, down = (r + p - 1) % p;
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, r, table::out));
  b.round();
  b.loop(p - 1, [&] {
    b.exchange(up, block(buffer::output, at(r, -1, p), table::out), down,
               block(buffer::output, at(r - 1, -1, p), table::out));
  });
}

}  // namespace

extern const pure_algorithm allgatherv_ring;
const pure_algorithm allgatherv_ring = {
    .name = "allgatherv/ring",
    .what = collective::allgatherv,
    .needs = restriction::none,
    .idea =
        "Blocks travel around the ring: in each of p - 1 steps a rank passes on the block that it "
        "received in the step before.",
    .source = "folklore; Chan, Heimlich, Purkayastha, van de Geijn 2007",
    .rounds = "p - 1",
    .bytes = "b (p - 1)",
    .scratch = "0",
    .write = write,
};

}  // namespace tutti::algorithms
