// SPDX-License-Identifier: Apache-2.0
//
// allgather/locality_bruck
//
// Regions consist of L consecutive ranks that are near one another. First each region gathers its
// own blocks. Then a region that knows the blocks of H regions, its own and those above, obtains
// those of L * H more in one step. Its rank number l receives from its counterpart in the region (l
// + 1) * H above. Then the ranks of the region gather what they received. So every block enters a
// region once, in few messages between regions. Gathers within a region use Bruck's doubling,
// around the region.
//
// Source:       Bienz, Gautam, Kharel 2022
// Restrictions: equal_regions
// Parameters:   region = 1 in 1..65536: number of consecutive ranks that are near one another, a
//                 divisor of p
// Rounds:       <= ceil_log(2, region)
//                 + ceil_log(region + 1, p / region) * (1 + ceil_log(2, region))
// Bytes:        <= n * (2 + ceil_log(2, region))
// Scratch:      n
// Good for:     small blocks if messages between regions (nodes) are slow
#include "algorithms/parts/packing.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allgather_locality_bruck {

void write(const shape& s, builder& b) {
  const int p = s.size, length = s.of(algorithm_parameter::region), regions = p / length;
  const int g = s.rank / length, l = s.rank % length;
  const auto rank_in_region = [&](int member) { return g * length + member; };
  if (!s.in_place) b.copy(whole(buffer::input), block(buffer::output, s.rank));
  parts::packing messages(b);
  parts::bruck(b, messages, length, l, 2, rank_in_region, [&](int first, int n) {
    parts::ranges own = parts::cyclic(first, n, length);
    for (parts::range& one : own) one.first += g * length;
    return own;
  });
  for (int known = 1; known < regions;) {
    // Adds the blocks of n regions, the first of which is `distance` above the own one.
    const auto append_regions = [&](parts::ranges& all, int distance, int n) {
      parts::append_cyclic(all, (g + distance) % regions * length, n * length, p);
    };
    const int distance = std::min((l + 1) * known, regions), n = std::min(known, regions - distance);
    if (n > 0) {
      parts::ranges sent, wanted;
      append_regions(sent, 0, n);
      append_regions(wanted, distance, n);
      const place source = messages.to_send(sent);
      const int hop = distance * length;
      b.exchange((s.rank - hop + p) % p, source, (s.rank + hop) % p, messages.to_receive(wanted));
    }
    messages.end_round();
    parts::bruck(b, messages, length, l, 2, rank_in_region, [&](int first, int count) {
      parts::ranges received;
      for (const parts::range& members : parts::cyclic(first, count, length)) {
        const int from = std::min((members.first + 1) * known, regions);
        append_regions(received, from, std::min(from + members.count * known, regions) - from);
      }
      return received;
    });
    known = std::min<long long>(static_cast<long long>(known) * (length + 1), regions);
  }
}

}  // namespace tutti::algorithms::allgather_locality_bruck
