// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/pairwise, reduce_scatter_block/pairwise
//
// In step i a rank sends the block of the rank i above directly to that rank. It combines what
// arrives from the rank i below. If the order of operands matters, those of lower and of higher
// ranks are combined separately.
//
// Source:       Thakur, Rabenseifner, Gropp 2005
// Rounds:       p - 1
// Bytes:        n * (p - 1) / p
// Scratch:      p == 1 ? 0 : b * (in_place + ordered)
// Good for:     large blocks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_scatter_pairwise {

void write(const shape& s, builder& b) {
  const partition how = operand_partition(s);
  const int p = s.size, r = s.rank;
  // In place, the output overlaps with operands that are still to be sent; rank 0's with the only
  // block that it keeps.
  const bool direct = !s.in_place || r == 0;
  const auto packed_block = [&](buffer which) {
    b.scratch(which, 1, how);
    return packed(block(which, r, how));
  };
  const place own = block(buffer::input, r, how);
  const place result = direct ? whole(buffer::output) : packed_block(buffer::scratch0);
  const auto send_operand = [&](int i) {
    b.send(at(r + i, 1, p), block(buffer::input, at(r + i, 1, p), how));
  };
  // Combines the operands of ranks r - first ... r - last, each on the left, with `begin` into
  // `sum`.
  const auto reduce_range = [&](int first, int last, place begin, place sum) {
    if (first > last) return begin;
    b.send((r + first) % p, block(buffer::input, (r + first) % p, how));
    b.recv_reduce_left({(r - first + p) % p}, begin, sum);
    b.loop(last - first, [&] {
      send_operand(first + 1);
      b.recv_reduce_left(at(r - first - 1, -1, p), sum, sum);
    });
    return sum;
  };
  place sum = reduce_range(1, s.commutative ? p - 1 : r, own, result);
  if (!s.commutative && r < p - 1) {
    const place above = packed_block(buffer::scratch1);
    b.send((2 * r + 1) % p, block(buffer::input, (2 * r + 1) % p, how));
    b.recv(p - 1, above);
    b.round();
    reduce_range(r + 2, p - 1, above, above);
    b.reduce(sum, above, whole(buffer::output));
  } else if (sum.where != buffer::output && !(s.in_place && p == 1)) {
    b.copy(sum, whole(buffer::output));
  }
}

}  // namespace tutti::algorithms::reduce_scatter_pairwise
