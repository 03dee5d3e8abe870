// SPDX-License-Identifier: Apache-2.0
#include "proof/abstract_call.hpp"

#include <algorithm>

#include "proof/block_rule.hpp"

namespace tutti::proof {

std::size_t block_table::extent() const noexcept {
  std::size_t end = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) end = std::max(end, displs[i] + counts[i]);
  return end;
}

namespace {

bool from_root(collective what) {
  return what == collective::bcast || what == collective::scatter || what == collective::scatterv;
}

bool to_root(collective what) { return is_rooted(what) && !from_root(what); }

// Lays out a table of blocks: without gaps or with a gap of one element before each block, and
// optionally in reverse order.
block_table make_block_table(std::vector<std::size_t> counts, bool gaps, bool backwards) {
  block_table l;
  l.displs.resize(counts.size());
  std::size_t end = 0;
  for (std::size_t n = 0; n < counts.size(); ++n) {
    const std::size_t i = backwards ? counts.size() - 1 - n : n;
    l.displs[i] = end + (gaps ? 1 : 0);
    end = l.displs[i] + counts[i];
  }
  l.counts = std::move(counts);
  return l;
}

}  // namespace

bool abstract_call::in_place_at(int rank) const noexcept {
  return in_place && (rank == root || !is_rooted(what)) && what != collective::bcast &&
         what != collective::barrier;
}

bool abstract_call::aliased_at(int rank) const noexcept {
  return in_place_at(rank) && what != collective::scatter && what != collective::scatterv;
}

abstract_call::range abstract_call::remote_group(int rank) const noexcept {
  if (first_group == 0) return {0, ranks};
  return rank < first_group ? range{first_group, ranks} : range{0, first_group};
}

abstract_call::range abstract_call::local_group(int rank) const noexcept {
  if (first_group == 0) return {0, ranks};
  return rank < first_group ? range{0, first_group} : range{first_group, ranks};
}

bool abstract_call::has_operand(int rank) const noexcept {
  if (from_root(what)) return rank == root;
  if (!to_root(what) || first_group == 0) return true;
  return (rank < first_group) != (root < first_group);
}

bool abstract_call::has_result(int rank) const noexcept {
  if (to_root(what)) return rank == root;
  if (!from_root(what)) return true;
  if (first_group == 0) return what != collective::bcast || rank != root;
  return (rank < first_group) != (root < first_group);
}

std::size_t abstract_call::input_size(int rank) const noexcept {
  if (!has_operand(rank) || aliased_at(rank)) return 0;
  const auto me = static_cast<std::size_t>(rank);
  switch (what) {
    case collective::barrier:
      return 0;
    case collective::scatter:
    case collective::alltoall:
      return static_cast<std::size_t>(remote_group(rank).size()) * counts[me];
    case collective::reduce_scatter_block:
      return static_cast<std::size_t>(local_group(rank).size()) * counts[me];
    case collective::scatterv:
    case collective::reduce_scatter:
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::neighbor_alltoallv:
      return in[me].extent();
    default:
      return counts[me];
  }
}

std::size_t abstract_call::output_size(int rank) const noexcept {
  if (!has_result(rank)) return 0;
  const auto me = static_cast<std::size_t>(rank);
  switch (what) {
    case collective::barrier:
      return 0;
    case collective::gather:
    case collective::allgather:
    case collective::alltoall:
      return static_cast<std::size_t>(remote_group(rank).size()) * counts[me];
    case collective::reduce_scatter_block:
      return (aliased_at(rank) ? static_cast<std::size_t>(ranks) : 1) * counts[me];
    case collective::reduce_scatter:
      return aliased_at(rank) ? in[me].extent() : counts[me];
    case collective::gatherv:
    case collective::allgatherv:
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return out[me].extent();
    case collective::scatter:
    case collective::scatterv:
      return in_place_at(rank) ? 0 : counts[me];
    default:
      return counts[me];
  }
}

std::string abstract_call::text() const {
  std::size_t max_count = longest_block;
  for (const std::size_t c : counts) max_count = std::max(max_count, c);
  for (const block_table& l : out)
    for (const std::size_t c : l.counts) max_count = std::max(max_count, c);
  std::string all = std::string(name_of(what)) + " of " + std::to_string(ranks) + " ranks";
  if (first_group != 0) all += " (" + std::to_string(first_group) + " in the first group)";
  if (is_rooted(what)) all += ", root " + std::to_string(root);
  if (what != collective::barrier)
    all += ", " + std::string(is_vector_form(what) ? "at most " : "") + std::to_string(max_count) +
           " elements of " + std::to_string(element_bytes) + " bytes";
  if (in_place) all += ", in place";
  if (combines(what)) all += ordered ? ", in order" : ", in any order";
  for (std::size_t i = 0; i < parameter_values.size(); ++i)
    if (parameter_values[i] != 0)
      all += ", " + std::string(algorithm_parameter_names[i]) + " " + std::to_string(parameter_values[i]);
  return all;
}

namespace {

// Makes the tables and neighbors of ranks [first, last), and the counts of all ranks.
abstract_call make_call(const case_options& w, int first, int last) {
  using side = block_rule::side;
  const block_rule rule(w);
  abstract_call p = rule.head();
  const auto ranks = static_cast<std::size_t>(w.ranks);
  p.counts.resize(ranks);
  p.in.resize(ranks);
  p.out.resize(ranks);
  for (int r = 0; r < w.ranks; ++r) p.counts[static_cast<std::size_t>(r)] = rule.count(r);
  const bool neighbors = is_neighborhood(w.what);
  if (neighbors) {
    p.sources.resize(ranks);
    p.destinations.resize(ranks);
  }
  const bool gaps = w.blocks == blocks_are::uneven;
  for (int r = first; r < last; ++r) {
    const auto me = static_cast<std::size_t>(r);
    if (neighbors) {
      p.sources[me] = rule.sources(r);
      p.destinations[me] = rule.destinations(r);
    }
    const auto lengths = [&](side which) {
      std::vector<std::size_t> all;
      for (const int owner : rule.block_owners(which, r)) all.push_back(rule.length(which, r, owner));
      return all;
    };
    if (rule.has_table(side::in, r))
      p.in[me] = make_block_table(lengths(side::in), gaps && w.what != collective::reduce_scatter, false);
    if (rule.has_table(side::out, r)) p.out[me] = make_block_table(lengths(side::out), gaps, true);
  }
  return p;
}

}  // namespace

abstract_call make_abstract_call(const case_options& w) { return make_call(w, 0, w.ranks); }

abstract_call make_abstract_call(const case_options& w, int rank) {
  abstract_call p = make_call(w, rank, rank + 1);
  const bool has_all_counts =
      w.what != collective::alltoallv && w.what != collective::alltoallw && !is_neighborhood(w.what);
  if (!has_all_counts) p.longest_block = w.count;
  return p;
}

shape shape_of(const abstract_call& p, int rank) {
  shape s;
  s.what = p.what;
  s.size = p.ranks;
  s.rank = rank;
  s.root = p.root;
  s.in_place = p.in_place_at(rank);
  s.commutative = !p.ordered;
  s.first_group = p.first_group;
  s.parameter_values = p.parameter_values;
  if (!p.sources.empty()) {
    s.sources = p.sources[static_cast<std::size_t>(rank)];
    s.destinations = p.destinations[static_cast<std::size_t>(rank)];
  }
  return s;
}

std::vector<schedule> write_all(const writer& write, const abstract_call& p) {
  std::vector<schedule> all;
  all.reserve(static_cast<std::size_t>(p.ranks));
  for (int r = 0; r < p.ranks; ++r) {
    builder b;
    write(shape_of(p, r), b);
    all.push_back(b.finish());
  }
  return all;
}

}  // namespace tutti::proof
