// SPDX-License-Identifier: Apache-2.0
//
// barrier/blocking_by_nonblocking, bcast/blocking_by_nonblocking, reduce/blocking_by_nonblocking,
//   allreduce/blocking_by_nonblocking, gather/blocking_by_nonblocking,
//   gatherv/blocking_by_nonblocking, scatter/blocking_by_nonblocking,
//   scatterv/blocking_by_nonblocking, allgather/blocking_by_nonblocking,
//   allgatherv/blocking_by_nonblocking, alltoall/blocking_by_nonblocking,
//   alltoallv/blocking_by_nonblocking, alltoallw/blocking_by_nonblocking,
//   reduce_scatter/blocking_by_nonblocking, reduce_scatter_block/blocking_by_nonblocking,
//   scan/blocking_by_nonblocking, exscan/blocking_by_nonblocking
//
// Starts the same collective as a nonblocking call and waits for it. If selection chooses the
// engine's native collective, the composition calls its nonblocking form, which uses other
// algorithms in most libraries.
//
// Source:       MPICH (its nonblocking collectives serve blocking ones)
// Calls:        the same collective on the same ranks, nonblocking
// Good for:     libraries whose nonblocking collective is the better one
#include "compositions/parts/block_order.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::blocking_by_nonblocking {

void plan(planner& p) {
  const call& requested = p.requested();
  const bool root = p.rank() == p.root();
  subcall same;
  same.what = requested.what;
  same.in_place = requested.in_place;
  same.nonblocking = true;
  same.root = requested.root;
  same.count = requested.count;
  same.input = p.input();
  same.output = p.output();
  const auto table = [&](const counts_view& v) { return parts::vector_of(v, p.size()); };
  switch (requested.what) {
    case collective::bcast:
      same.input = same.output = root ? p.operand() : p.output();
      break;
    case collective::gatherv:
      if (!root) break;
      [[fallthrough]];
    case collective::allgatherv:
      same.out_counts = table(requested.out_counts);
      same.out_displs = table(requested.out_displs);
      break;
    case collective::scatterv:
      if (!root) break;
      same.in_counts = table(requested.in_counts);
      same.in_displs = table(requested.in_displs);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::reduce_scatter:
      same.out_counts = table(requested.out_counts);
      same.out_displs = table(requested.out_displs);
      if (requested.in_place && requested.what != collective::reduce_scatter) break;
      same.in_counts = table(requested.in_counts);
      same.in_displs = table(requested.in_displs);
      break;
    default:
      break;
  }
  p.wait(p.start(p.all(), same));
}

}  // namespace tutti::compositions::blocking_by_nonblocking
