// SPDX-License-Identifier: Apache-2.0
#include "proof/abstract_call.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

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

bool pseudorandom_below(std::uint64_t a, std::uint64_t b, std::uint64_t limit) {
  std::uint64_t x = a * 0x9e3779b97f4a7c15u + b * 0xbf58476d1ce4e5b9u + 0x94d049bb133111ebu;
  x ^= x >> 31;
  x *= 0xd6e8feb86659fd93u;
  x ^= x >> 29;
  return x % 64 < limit;
}

bool is_edge(const case_options& w, int from, int to) {
  if (w.graph == 0) return to == (from + 1) % w.ranks || from == (to + 1) % w.ranks;
  if (w.graph == 1) return from == 0 || to == 0;
  return pseudorandom_below(static_cast<std::uint64_t>(from), static_cast<std::uint64_t>(to),
                            64 / static_cast<unsigned>(std::max(2, w.ranks / 4)));
}

std::size_t block_of(const case_options& w, int from, int to) {
  if (w.blocks == blocks_are::even || w.count == 0) return w.count;
  return (1 + static_cast<std::size_t>(from) * 3 + static_cast<std::size_t>(to) * 5) % (w.count + 1);
}

void add_neighbors(const case_options& w, abstract_call& p) {
  const auto ranks = static_cast<std::size_t>(w.ranks);
  p.sources.resize(ranks);
  p.destinations.resize(ranks);
  for (int from = 0; from < w.ranks; ++from)
    for (int to = 0; to < w.ranks; ++to)
      if (is_edge(w, from, to)) {
        p.destinations[static_cast<std::size_t>(from)].push_back(to);
        p.sources[static_cast<std::size_t>(to)].push_back(from);
      }
  // Lists of neighbors need not be sorted.
  for (std::size_t r = 0; r < ranks; r += 2) std::reverse(p.sources[r].begin(), p.sources[r].end());
  const bool gaps = w.blocks == blocks_are::uneven;
  const bool same_for_all_peers = w.what == collective::neighbor_allgatherv;
  for (int r = 0; r < w.ranks; ++r) {
    const auto me = static_cast<std::size_t>(r);
    std::vector<std::size_t> send_counts, recv_counts;
    for (const int to : p.destinations[me])
      send_counts.push_back(block_of(w, r, same_for_all_peers ? 0 : to));
    for (const int from : p.sources[me]) recv_counts.push_back(block_of(w, from, same_for_all_peers ? 0 : r));
    p.counts[me] = same_for_all_peers ? block_of(w, r, 0) : 0;
    if (!same_for_all_peers) p.in[me] = make_block_table(send_counts, gaps, false);
    p.out[me] = make_block_table(recv_counts, gaps, true);
  }
}

// In an inter-group call, both groups have operands of the same length, each divided among its own
// members.
std::vector<std::size_t> operand_blocks(const case_options& w, const abstract_call& p,
                                        const abstract_call::range& group) {
  const auto blocks = [&](const abstract_call::range& members) {
    std::vector<std::size_t> all;
    for (int r = members.first; r < members.last; ++r) all.push_back(block_of(w, r, 2));
    return all;
  };
  auto mine = blocks(group);
  if (w.first_group == 0) return mine;
  const auto other = p.remote_group(group.first);
  const auto theirs = blocks(other);
  if (w.blocks == blocks_are::even) {
    for (std::size_t& n : mine) n *= theirs.size();
    return mine;
  }
  const auto sum = std::accumulate(mine.begin(), mine.end(), std::size_t{0}),
             other_sum = std::accumulate(theirs.begin(), theirs.end(), std::size_t{0});
  if (sum < other_sum) mine.back() += other_sum - sum;
  return mine;
}

void add_tables(const case_options& w, abstract_call& p) {
  const bool gaps = w.blocks == blocks_are::uneven;
  for (int r = 0; r < w.ranks; ++r) {
    const auto me = static_cast<std::size_t>(r);
    const abstract_call::range from = p.remote_group(r);
    std::vector<std::size_t> blocks;
    switch (w.what) {
      case collective::gatherv:
      case collective::allgatherv:
        p.counts[me] = p.has_operand(r) ? block_of(w, r, 0) : 0;
        if (!p.has_result(r)) break;
        for (int s = from.first; s < from.last; ++s) blocks.push_back(block_of(w, s, 0));
        p.out[me] = make_block_table(blocks, gaps, true);
        break;
      case collective::scatterv:
        p.counts[me] = p.has_result(r) ? block_of(w, r, 1) : 0;
        if (r != w.root) break;
        for (int s = from.first; s < from.last; ++s) blocks.push_back(block_of(w, s, 1));
        p.in[me] = make_block_table(blocks, gaps, false);
        break;
      case collective::reduce_scatter:
        blocks = operand_blocks(w, p, p.local_group(r));
        p.counts[me] = blocks[static_cast<std::size_t>(r - p.local_group(r).first)];
        p.in[me] = make_block_table(blocks, false, false);
        break;
      case collective::alltoallv:
      case collective::alltoallw:
        p.counts[me] = 0;
        for (int s = from.first; s < from.last; ++s)
          blocks.push_back(w.in_place ? block_of(w, std::min(r, s), std::max(r, s)) : block_of(w, s, r));
        p.out[me] = make_block_table(blocks, gaps, true);
        if (w.in_place) break;
        for (int s = from.first; s < from.last; ++s)
          blocks[static_cast<std::size_t>(s - from.first)] = block_of(w, r, s);
        p.in[me] = make_block_table(blocks, gaps, false);
        break;
      default:
        break;
    }
  }
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
  std::size_t max_count = 0;
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

abstract_call make_abstract_call(const case_options& w) {
  abstract_call p;
  p.what = w.what;
  p.ranks = w.ranks;
  p.root = is_rooted(w.what) ? w.root : 0;
  p.in_place = w.in_place;
  p.ordered = w.ordered;
  p.parameter_values = w.parameter_values;
  p.element_bytes = w.element_bytes;
  p.first_group = w.first_group;
  const auto ranks = static_cast<std::size_t>(w.ranks);
  p.counts.assign(ranks, w.what == collective::barrier ? 0 : w.count);
  p.in.resize(ranks);
  p.out.resize(ranks);
  if (w.what == collective::reduce_scatter_block && w.first_group != 0)
    for (int r = 0; r < w.ranks; ++r)
      p.counts[static_cast<std::size_t>(r)] *= static_cast<std::size_t>(p.remote_group(r).size());
  if (w.what == collective::neighbor_allgatherv || w.what == collective::neighbor_alltoallv)
    add_neighbors(w, p);
  else
    add_tables(w, p);
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

variables variables_of(const abstract_call& p) {
  const auto size = static_cast<double>(p.element_bytes);
  std::size_t longest = 0, all = 0, degree_in = 0, degree_out = 0;
  const auto sum = [](const std::vector<std::size_t>& v) {
    return std::accumulate(v.begin(), v.end(), std::size_t{0});
  };
  switch (p.what) {
    case collective::alltoallv:
    case collective::alltoallw:
    case collective::neighbor_alltoallv:
      for (const auto* tables : {&p.in, &p.out})
        for (const block_table& l : *tables)
          for (const std::size_t c : l.counts) longest = std::max(longest, c);
      for (const block_table& l : p.in_place ? p.out : p.in) all = std::max(all, sum(l.counts));
      break;
    default:
      for (const std::size_t c : p.counts) longest = std::max(longest, c);
      all = longest;
      if (is_vector_form(p.what) || p.what == collective::neighbor_allgatherv) all = sum(p.counts);
      if (p.what == collective::gather || p.what == collective::scatter || p.what == collective::allgather ||
          p.what == collective::alltoall || p.what == collective::reduce_scatter_block)
        all = static_cast<std::size_t>(p.ranks) * longest;
      // In an inter-group call, n is the length of one vector, not of both groups' vectors.
      if (p.first_group != 0 && p.what == collective::reduce_scatter) all = sum(p.in[0].counts);
      if (p.first_group != 0 && p.what == collective::reduce_scatter_block) all = p.input_size(0);
  }
  for (const auto& s : p.sources) degree_in = std::max(degree_in, s.size());
  for (const auto& d : p.destinations) degree_out = std::max(degree_out, d.size());
  variables v;
  v.set("p", p.ranks);
  v.set("root", p.root);
  v.set("n", static_cast<double>(all) * size);
  v.set("b", static_cast<double>(longest) * size);
  v.set("pof2", static_cast<double>(std::bit_floor(static_cast<unsigned>(p.ranks))));
  v.set("ordered", p.ordered ? 1 : 0);
  v.set("in_place", p.in_place ? 1 : 0);
  v.set("word", 8);
  v.set("first", p.first_group);
  v.set("second", p.ranks - p.first_group);
  v.set("sources", static_cast<double>(degree_in));
  v.set("destinations", static_cast<double>(degree_out));
  for (std::size_t i = 0; i < p.parameter_values.size(); ++i)
    if (p.parameter_values[i] != 0)
      // 0: the algorithm has no such parameter
      v.set(algorithm_parameter_names[i], p.parameter_values[i]);
  const auto segment =
      static_cast<std::size_t>(p.parameter_values[static_cast<std::size_t>(algorithm_parameter::segment)]);
  if (segment != 0) {
    // in elements, as the executor cuts it
    const std::size_t each = std::max(segment / p.element_bytes, std::size_t{1});
    v.set("segments", static_cast<double>((all + each - 1) / each));
  }
  return v;
}

}  // namespace tutti::proof
