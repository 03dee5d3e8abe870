// SPDX-License-Identifier: Apache-2.0
//
// allreduce/rabenseifner
//
// Neighboring ranks are folded to a power of two of groups. The groups reduce-scatter the vector,
// halving in each round the part that a group owns, and gather the halves in reverse order. The
// nearest groups exchange the longest halves. So a partial result always covers consecutive ranks,
// and operands keep their order.
//
// Source:       Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005
// Rounds:       2 * floor(log2(p)) + (p == pof2 ? 0 : 2)
// Bytes:        2 * n * (pof2 - 1) / pof2 + (p == pof2 ? 0 : n)
// Scratch:      0
// Good for:     long vectors, also with operators that do not commute
#include <bit>

#include "algorithms/parts/halving.hpp"
#include "algorithms/parts/recursive_halving.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_rabenseifner {

void write(const shape& s, builder& b) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::fold f(s.size);
  b.split_into(f.groups);
  const auto of = [](buffer which) {
    return [which](int first, int n) { return blocks(which, first, n, partition::split); };
  };
  const auto result = of(buffer::output);
  const int own = parts::recursive_halving(b, f, s.rank, parts::distances::doubling, of(buffer::input),
                                           result, [&](int part) { return result(part, 1); });
  if (f.is_follower(s.rank)) {
    b.recv(s.rank - 1, whole(buffer::output));
    return;
  }
  const auto partner = [&](int round) { return f.leader_of(f.group_of(s.rank) ^ (1 << round)); };
  parts::gather_by_halves(b, std::countr_zero(static_cast<unsigned>(f.groups)), own, partner, result);
  if (f.in_pair(s.rank)) b.send(s.rank + 1, whole(buffer::output));
}

}  // namespace tutti::algorithms::allreduce_rabenseifner
