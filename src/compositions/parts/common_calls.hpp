// SPDX-License-Identifier: Apache-2.0
//
// Builds the inner calls that compositions use most, one function each. If `from` equals `to`, the
// call is in place.
#pragma once

#include <algorithm>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

inline subcall call_of(collective what, area from, area to, std::size_t count, int root = 0) {
  subcall c;
  c.what = what;
  c.in_place = from == to && what != collective::bcast && what != collective::barrier;
  c.input = from;
  c.output = to;
  c.count = count;
  c.root = root;
  return c;
}
inline subcall barrier() { return call_of(collective::barrier, {}, {}, 0); }
/// Broadcasts `data` of the root to `data` of the other members.
inline subcall bcast(area data, std::size_t count, int root) {
  return call_of(collective::bcast, data, data, count, root);
}
/// `to` is significant only at the root. `receives` must be true at the root and false elsewhere.
inline subcall reduce(area from, area to, bool receives, std::size_t count, int root) {
  subcall c = call_of(collective::reduce, from, to, count, root);
  c.in_place = c.in_place && receives;
  return c;
}

/// Displacements of blocks without gaps: the sums of all preceding counts.
inline std::vector<std::size_t> dense_displs(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> sums;
  std::size_t sum = 0;
  for (const std::size_t n : counts) {
    sums.push_back(sum);
    sum += n;
  }
  return sums;
}

/// Returns whether blocks of these lengths need the vector form.
inline bool uneven(const std::vector<std::size_t>& counts) {
  return std::any_of(counts.begin(), counts.end(), [&](std::size_t n) { return n != counts[0]; });
}

/// Gathers blocks of these lengths one after another: by gather or allgather if they are equal,
/// otherwise by the vector form. With `in_place` the own block is already in its final position: at
/// the root of a gather, or on all ranks.
inline subcall gather_blocks(bool everywhere, const std::vector<std::size_t>& counts, int position, area from,
                             area to, bool in_place, int root = 0) {
  subcall c = call_of(everywhere ? collective::allgather : collective::gather, from, to,
                      counts[static_cast<std::size_t>(position)], root);
  c.in_place = in_place;
  if (uneven(counts)) {
    c.what = everywhere ? collective::allgatherv : collective::gatherv;
    c.out_counts = counts;
    c.out_displs = dense_displs(counts);
  }
  return c;
}

/// Scatters blocks of these lengths. With `in_place` the root's own block is not moved.
inline subcall scatter_blocks(const std::vector<std::size_t>& counts, int position, area from, area to,
                              bool in_place, int root) {
  subcall c = call_of(collective::scatter, from, to, counts[static_cast<std::size_t>(position)], root);
  c.in_place = in_place;
  if (uneven(counts)) {
    c.what = collective::scatterv;
    c.in_counts = counts;
    c.in_displs = dense_displs(counts);
  }
  return c;
}

/// Each member receives its block of the combined vector.
inline subcall reduce_scatter_blocks(const std::vector<std::size_t>& counts, int position, area from,
                                     area to) {
  subcall c = call_of(collective::reduce_scatter_block, from, to, counts[static_cast<std::size_t>(position)]);
  if (uneven(counts)) {
    c.what = collective::reduce_scatter;
    c.in_counts = c.out_counts = counts;
    c.in_displs = c.out_displs = dense_displs(counts);
  }
  return c;
}

/// `count` elements in `parts` nearly equal parts; the first count % parts are one element longer.
inline std::vector<std::size_t> split(std::size_t count, std::size_t parts) {
  std::vector<std::size_t> all(parts, count / parts);
  for (std::size_t i = 0; i < count % parts; ++i) ++all[i];
  return all;
}

}  // namespace tutti::compositions::parts
