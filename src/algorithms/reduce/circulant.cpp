// SPDX-License-Identifier: Apache-2.0
//
// reduce/circulant
//
// The broadcast of as many blocks over a circulant graph, in reverse. If a rank receives a block in
// the broadcast, it sends its partial sum of that block here. If it sends a block in the broadcast,
// it receives and combines that block here. Each rank sends each block once.
//
// Source:       Traeff 2024 (round-optimal n-block broadcast schedules)
// Restrictions: commutative
// Parameters:   blocks = 16 in 1..65536: number of blocks into which the vector is cut
// Rounds:       p == 1 ? 0 : blocks - 1 + ceil_log(2, p)
// Bytes:        p == 1 ? 0 : n * (blocks - 1 + ceil_log(2, p)) / blocks
// Scratch:      p <= 2 ? 0 : n
// Good for:     long vectors on any number of ranks
#include "algorithms/parts/circulant_phases.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_circulant {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::circulant c(s.size);
  const int v = s.relative(), n = s.of(algorithm_parameter::blocks), q = c.phase();
  const auto recv_blocks = c.sends(v), send_blocks = c.receives(v);
  const auto source_of = [&](int k) { return (v + c.skip(k)) % s.size; };
  const buffer sum = v == 0 ? buffer::output : buffer::scratch0;
  // Returns whether the block of schedule entry `e` received anything before round k of its phase.
  // That happens in a later round of the phase, or in the next phase, because both are processed in
  // reverse order.
  const auto begun = [&](int k, bool last, int e) {
    for (int other = 0; other < q; ++other) {
      const int t = recv_blocks[static_cast<std::size_t>(other)];
      if (source_of(other) == 0) continue;
      if (last ? other > k && std::min(t, 0) == std::min(e, 0) : (other > k && t == e) || t == e - q)
        return true;
    }
    return false;
  };
  bool combined = false;
  parts::circulant_phases(b, c, n, parts::tree_direction::to_root, [&](int k, bool last, auto at_block) {
    const auto part = [&](buffer which, int e) { return piece(whole(which), at_block(e), n); };
    const auto own = [&](int e) { return part(begun(k, last, e) ? sum : buffer::input, e); };
    const int sent = send_blocks[static_cast<std::size_t>(k)];
    const int received = recv_blocks[static_cast<std::size_t>(k)];
    if (v != 0) b.send(s.absolute((v - c.skip(k) + s.size) % s.size), own(sent));
    if (source_of(k) == 0) return;
    b.recv_reduce_right({s.absolute(source_of(k))}, own(received), part(sum, received));
    combined = true;
  });
  if (combined && v != 0) b.scratch(buffer::scratch0, 1);
}

}  // namespace tutti::algorithms::reduce_circulant
