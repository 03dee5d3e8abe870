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
  b.scratch(buffer::scratch0, 1);
  b.copy(block(buffer::input, r), whole(buffer::scratch0));
  b.round();
  b.loop(p - 1, [&] {
    b.send(at(r + 1, 1, p), block(buffer::input, at(r + 1, 1, p)));
    b.recv_reduce_left(at(r - 1, -1, p), whole(buffer::scratch0), whole(buffer::scratch0));
  });
  b.round();
  b.copy(whole(buffer::scratch0), whole(buffer::output));
}

}  // namespace

extern const pure_algorithm reduce_scatter_block_pairwise;
const pure_algorithm reduce_scatter_block_pairwise = {
    .name = "reduce_scatter_block/pairwise",
    .what = collective::reduce_scatter_block,
    .needs = restriction::commutative,
    .idea = "In step i a rank sends the block of the rank i above it straight there and adds what comes from "
            "the rank i below to its own block.",
    .source = "Thakur, Rabenseifner, Gropp 2005",
    .rounds = "p - 1",
    .bytes = "b (p - 1)",
    .scratch = "b",
    .write = write,
};

}  // namespace tutti::algorithms
