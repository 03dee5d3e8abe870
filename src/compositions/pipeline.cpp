// SPDX-License-Identifier: Apache-2.0
//
// bcast/pipeline, reduce/pipeline, allreduce/pipeline, scan/pipeline, exscan/pipeline
//
// The vector is cut into segments, with one call for each. Several calls are in progress together,
// so that the transfers of one segment overlap with the reduction of another. No buffer grows with
// the vector.
//
// Source:       folklore; MPICH (bcast and allreduce by pipelined blocks)
// Parameters:   segment = 65536 in 1..1073741824: bytes of one call, more if there would be above
//                 1024 calls; window = 4 in 1..64: calls in progress together
// Calls:        the same collective on the same ranks, a segment each
// Good for:     long vectors, for which selection chooses algorithms without segments for each
//                 segment
#include <algorithm>

#include "compositions/parts/segments.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::pipeline {

void plan(planner& p) {
  const subgroup all = p.all();
  const parts::segments cut(p);
  std::vector<planner::request> in_progress;
  const std::size_t window = std::max<std::size_t>(1, p.of(algorithm_parameter::window));
  const area from = p.operand();
  // In a bcast the root uses the input, all other ranks the output.
  const bool receives = p.what() == collective::bcast && p.rank() != p.root();
  for (std::size_t i = 0; i < cut.count(); ++i) {
    if (i >= window) p.wait(in_progress[i - window]);
    subcall one;
    one.what = p.what();
    one.nonblocking = true;
    one.in_place = p.requested().in_place && p.what() != collective::bcast;
    one.root = p.root();
    one.count = cut.length(i);
    one.input = (receives ? p.output() : from) + cut.begin(i);
    one.output = (p.what() == collective::bcast ? one.input : p.output() + cut.begin(i));
    in_progress.push_back(p.start(all, one));
  }
  for (std::size_t i = cut.count() > window ? cut.count() - window : 0; i < cut.count(); ++i)
    p.wait(in_progress[i]);
}

}  // namespace tutti::compositions::pipeline
