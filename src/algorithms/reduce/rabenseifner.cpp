// SPDX-License-Identifier: Apache-2.0
//
// reduce/rabenseifner
//
// Neighboring ranks are folded to a power of two P of groups, and the vector is cut into P parts.
// The groups reduce-scatter it, halving in each round the part that a group owns. Then a binomial
// tree gathers the parts to the root in reverse order. The nearest groups exchange the longest
// halves. So a partial result always covers consecutive ranks, and operands keep their order. If
// the root follows another rank in its group, it replaces that rank in the gather.
//
// Source:       Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005
// Rounds:       2 * log2(pof2) + (p == pof2 ? 0 : 1)
//                 + (root < 2 * (p - pof2) && root > 2 * floor(root / 2))
// Bytes:        <= n * (2 * (pof2 - 1) / pof2 + (p != pof2))
// Scratch:      p > 1 ? n : 0
// Good for:     long vectors, also with operators that do not commute
#include "algorithms/parts/recursive_halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::reduce_rabenseifner {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::fold f(s.size);
  const bool is_root = s.rank == s.root, follows = f.is_follower(s.rank);
  const int group = f.group_of(s.rank), target = f.group_of(s.root);
  const buffer partial = is_root ? buffer::output : buffer::scratch0;
  b.split_into(f.groups);
  if (!is_root && !follows) b.scratch(buffer::scratch0, 1);
  const auto operand = [](int first, int n) { return blocks(buffer::input, first, n, partition::split); };
  const auto result = [&](int first, int n) { return blocks(partial, first, n, partition::split); };
  parts::recursive_halving(b, f, s.rank, parts::distances::doubling, operand, result,
                           [&](int part) { return result(part, 1); });
  b.round();
  const int part = parts::mirrored(group, f.groups);
  if (f.is_follower(s.root)) {
    if (s.rank == s.root - 1) b.send(s.root, result(part, 1));
    if (is_root) b.recv(s.root - 1, result(part, 1));
    b.round();
  }
  if (group == target ? !is_root : follows) return;
  // After the round in which groups at this distance exchanged, a group's share was `n` parts.
  for (int distance = f.groups / 2, n = 1; distance > 0; distance /= 2, n *= 2) {
    const int partner = group ^ distance, own = part & -n;
    if ((group & distance) != (target & distance)) {
      b.send(partner == target ? s.root : f.leader_of(partner), result(own, n));
      return;
    }
    b.recv(f.leader_of(partner), result(own ^ n, n));
    b.round();
  }
}

}  // namespace tutti::algorithms::reduce_rabenseifner
