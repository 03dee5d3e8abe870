// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/pairwise
//
// In step i a rank sends the block of the rank i above it straight there and adds what comes from the rank i
// below to its own block.
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  place held = block(buffer::scratch0, r, table::in);
  held.packed = true;  // as long as the own block, at the beginning of the scratch
  b.scratch(buffer::scratch0, 1, table::in);
  b.copy(block(buffer::input, r, table::in), held);
  b.round();
  b.loop(p - 1, [&] {
    b.send(at(r + 1, 1, p), block(buffer::input, at(r + 1, 1, p), table::in));
    b.recv_reduce_left(at(r - 1, -1, p), held, held);
  });
  b.round();
  b.copy(held, whole(buffer::output));
}

}  // namespace

extern const pure_algorithm reduce_scatter_pairwise;
const pure_algorithm reduce_scatter_pairwise = {
    .name = "reduce_scatter/pairwise",
    .what = collective::reduce_scatter,
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
