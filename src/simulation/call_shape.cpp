// SPDX-License-Identifier: Apache-2.0
#include "simulation/call_shape.hpp"

#include <algorithm>

namespace tutti::simulation {
namespace {

bool from_root(collective what) {
  return what == collective::bcast || what == collective::scatter || what == collective::scatterv;
}

bool in_place_at(const simulated_call& c, int rank) {
  return c.in_place && (rank == c.root || !is_rooted(c.what)) && c.what != collective::bcast &&
         c.what != collective::barrier;
}

// Whether the rank contributes to a call to the root; between two groups, the other group does.
bool contributes(const simulated_call& c, int rank) {
  return c.first_group == 0 || (rank < c.first_group) != (c.root < c.first_group);
}

}  // namespace

shape shape_of(const simulated_call& c, int ranks, int rank, const algorithm_parameter_values& values,
               std::vector<int>& neighbors) {
  shape s;
  s.what = c.what;
  s.size = ranks;
  s.rank = rank;
  s.root = is_rooted(c.what) ? c.root : 0;
  s.in_place = in_place_at(c, rank);
  s.commutative = !c.ordered;
  s.first_group = c.first_group;
  s.parameter_values = values;
  if (is_neighborhood(c.what)) {
    neighbors = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
    std::sort(neighbors.begin(), neighbors.end());
    neighbors.erase(std::unique(neighbors.begin(), neighbors.end()), neighbors.end());
    s.sources = s.destinations = neighbors;
  }
  return s;
}

call_lengths lengths_of(const simulated_call& c, int ranks, int rank) {
  call_lengths l;
  l.element_bytes = c.element_bytes;
  const std::size_t n = c.what == collective::barrier ? 0 : c.count;
  l.count = n;
  l.input.each = l.output.each = n;
  const bool scatters = c.what == collective::scatter || c.what == collective::scatterv;
  l.aliased = (in_place_at(c, rank) && !scatters) ||
              (c.what == collective::bcast && rank == c.root && c.first_group == 0);
  switch (c.what) {
    case collective::gatherv:
      if (!contributes(c, rank)) l.count = 0;
      break;
    case collective::scatterv:
      if (!contributes(c, rank)) l.count = 0;
      break;
    case collective::reduce_scatter:
    case collective::reduce_scatter_block:
      // Both groups have operands of the same length, each divided among its own members.
      if (c.first_group != 0)
        l.count = l.input.each =
            n * static_cast<std::size_t>(rank < c.first_group ? ranks - c.first_group : c.first_group);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::neighbor_alltoallv:
      l.count = 0;
      break;
    default:
      break;
  }
  return l;
}

call call_of(const simulated_call& c, int ranks, int rank, std::vector<std::size_t>& counts,
             std::vector<std::size_t>& displs) {
  call made;
  made.what = c.what;
  made.in_place = in_place_at(c, rank);
  made.root = c.root;
  made.type.size = c.element_bytes;
  made.count = lengths_of(c, ranks, rank).count;
  made.op.which = c.ordered ? builtin_op::user : builtin_op::sum;
  made.op.commutative = !c.ordered;
  if (!is_vector_form(c.what)) return made;
  counts.assign(static_cast<std::size_t>(ranks), c.count);
  displs.resize(counts.size());
  for (std::size_t i = 0; i < displs.size(); ++i) displs[i] = i * c.count;
  const counts_view all(counts.data(), counts.size()), places(displs.data(), displs.size());
  const bool root = rank == c.root;
  if (c.what == collective::gatherv ? root : !from_root(c.what) && c.what != collective::reduce_scatter) {
    made.out_counts = all;
    made.out_displs = places;
  }
  if (c.what == collective::scatterv ? root
                                     : c.what != collective::gatherv && c.what != collective::allgatherv) {
    made.in_counts = all;
    made.in_displs = places;
  }
  if (c.what == collective::reduce_scatter) {
    made.out_counts = all;
    made.out_displs = places;
  }
  return made;
}

}  // namespace tutti::simulation
