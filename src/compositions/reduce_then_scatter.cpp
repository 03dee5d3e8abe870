// SPDX-License-Identifier: Apache-2.0
//
// reduce_scatter/reduce_then_scatter, reduce_scatter_block/reduce_then_scatter
//
// Rank 0 receives the whole result and scatters the blocks. It is a mock-up for the performance
// guidelines: a reduce_scatter should never be slower.
//
// Source:       Traff, Gropp, Thakur 2010 (self-consistent performance guidelines)
// Calls:        reduce to rank 0, scatter or scatterv from it
// Good for:     engines whose native reduce_scatter is slower than its parts
#include <numeric>

#include "compositions/parts/block_order.hpp"
#include "compositions/parts/common_calls.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::reduce_then_scatter {

void plan(planner& p) {
  const subgroup all = p.all();
  const bool uneven = p.what() == collective::reduce_scatter, root = p.rank() == 0;
  const auto counts = uneven ? parts::vector_of(p.requested().in_counts, p.size())
                             : parts::uniform_counts(p.size(), p.count());
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  // In place, rank 0's own block then is in its final position: the beginning of the output.
  const bool in_place = p.requested().in_place;
  const area sums = in_place ? p.output() : p.scratch(root ? total : 0);
  p.call_on(all, parts::reduce(p.operand(), sums, root, total, 0));
  subcall scatter;
  scatter.what = uneven ? collective::scatterv : collective::scatter;
  scatter.count = counts[static_cast<std::size_t>(p.rank())];
  scatter.in_place = root && in_place;
  scatter.input = sums;
  scatter.output = p.output();
  if (uneven && root) {
    scatter.in_counts = counts;
    scatter.in_displs = parts::dense_displs(counts);
  }
  p.call_on(all, scatter);
}

}  // namespace tutti::compositions::reduce_then_scatter
