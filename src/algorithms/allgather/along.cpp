// SPDX-License-Identifier: Apache-2.0
//
// allgather/along, allgatherv/along
//
// Every block travels along the ranks to both ends. In each step a rank forwards to the right the
// block that it received from the left in the step before, and vice versa. It begins with its own
// block in both directions.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p < 3 ? p - 1 : p + ceil(p / 2) - 1
// Bytes:        p < 3 ? n - b : n + b
// Scratch:      0
// Good for:     groups whose members know only their neighbors
#include "algorithms/parts/row.hpp"

namespace tutti::algorithms::allgather_along {

void write(const shape& s, builder& b) {
  const partition how = result_partition(s);
  const int p = s.size, r = s.rank, left = r, right = p - 1 - r;  // number of ranks on each side
  const auto of = [&](int rank, int by) { return block(buffer::output, at(rank, by), how); };
  if (!s.in_place) b.copy(whole(buffer::input), of(r, 0));
  b.round();
  parts::in_stages(b, 1, {0, left, left + 1, right, right + 1}, [&](int step, int by) {
    if (right > 0 && step <= left) b.send(r + 1, of(r - step, -by));
    if (left > 0 && step <= right) b.send(r - 1, of(r + step, by));
    if (step < left) b.recv(r - 1, of(r - 1 - step, -by));
    if (step < right) b.recv(r + 1, of(r + 1 + step, by));
  });
}

}  // namespace tutti::algorithms::allgather_along
