// SPDX-License-Identifier: Apache-2.0
//
// barrier/dissemination
//
// In round i every rank tells the rank 2^i above it and hears from the rank 2^i below it; after ceil(log2 p)
// rounds everybody has heard, directly or not, of everybody.
#include "schedule/algorithm.hpp"

namespace tutti::algorithms {
namespace {

void write(const shape& s, builder& b) {
  for (int distance = 1; distance < s.size; distance *= 2) {
    b.exchange((s.rank + distance) % s.size, blocks(buffer::input, 0, 0),
               (s.rank - distance + s.size) % s.size, blocks(buffer::output, 0, 0));
    b.round();
  }
}

}  // namespace

extern const pure_algorithm barrier_dissemination;
const pure_algorithm barrier_dissemination = {
    .name = "barrier/dissemination",
    .what = collective::barrier,
    .needs = restriction::none,
    .idea =
        "In round i every rank tells the rank 2^i above it and hears from the rank 2^i below it; after "
        "ceil(log2 p) rounds everybody has heard, directly or not, of everybody.",
    .source = "Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988",
    .rounds = "ceil(log2 p)",
    .bytes = "0",
    .scratch = "0",
    .write = write,
};

}  // namespace tutti::algorithms
