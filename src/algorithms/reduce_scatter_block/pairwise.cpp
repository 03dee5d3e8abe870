// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter_block/pairwise
//
// In step i a rank sends the block of the rank i above it straight there and adds what comes from the rank i
// below to its own block.
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const place held = whole(buffer::scratch0);
  b.scratch(buffer::scratch0, 1, table::uniform);
  b.copy(block(buffer::input, r, table::uniform), held);
  b.round();
  b.loop(p - 1, [&] {
    b.send(at(r + 1, 1, p), block(buffer::input, at(r + 1, 1, p), table::uniform));
    b.recv_reduce_left(at(r - 1, -1, p), held, held);
  });
  b.round();
  b.copy(held, whole(buffer::output));
}

}  // namespace

extern const pure_algorithm reduce_scatter_block_pairwise;
const pure_algorithm reduce_scatter_block_pairwise = {
    .name = "reduce_scatter_block/pairwise",
    .what = collective::reduce_scatter_block,
    .needs = restriction::commutative,
    .idea =
        "In step i a rank sends the block of the rank i above it straight there and adds what comes from "
        "the rank i below to its own block.",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .rounds = "p - 1",
    .bytes = "n (p - 1) / p",
    .scratch = "n / p",
    .write = write,
};

}  // namespace tutti::algorithms
