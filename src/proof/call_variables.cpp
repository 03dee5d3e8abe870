// SPDX-License-Identifier: Apache-2.0
//
// The values of the names in formulas for one call, from its tables or without tables.
#include <algorithm>
#include <bit>
#include <numeric>

#include "proof/block_rule.hpp"

namespace tutti::proof {
namespace {

bool is_alltoallv(collective what) { return what == collective::alltoallv || what == collective::alltoallw; }

struct call_lengths {
  std::size_t longest = 0, all = 0;  // elements: of the longest block, and of the whole vector
  std::size_t degree_in = 0, degree_out = 0;
};

std::size_t sum_of(const std::vector<std::size_t>& v) {
  return std::accumulate(v.begin(), v.end(), std::size_t{0});
}

// For collectives other than alltoallv, alltoallw and neighbor_alltoallv: from the counts. In an
// inter-group call, n is the length of one vector, not of both groups' vectors.
void add_lengths_of_counts(const abstract_call& p, std::size_t operand, call_lengths& l) {
  for (const std::size_t c : p.counts) l.longest = std::max(l.longest, c);
  l.all = l.longest;
  if (is_vector_form(p.what) || p.what == collective::neighbor_allgatherv) l.all = sum_of(p.counts);
  if (p.what == collective::gather || p.what == collective::scatter || p.what == collective::allgather ||
      p.what == collective::alltoall || p.what == collective::reduce_scatter_block)
    l.all = static_cast<std::size_t>(p.ranks) * l.longest;
  if (p.first_group != 0 && p.what == collective::reduce_scatter) l.all = operand;
  if (p.first_group != 0 && p.what == collective::reduce_scatter_block) l.all = p.input_size(0);
}

variables variables_of(const abstract_call& p, const call_lengths& l) {
  const auto size = static_cast<double>(p.element_bytes);
  variables v;
  v.set("p", p.ranks);
  v.set("root", p.root);
  v.set("n", static_cast<double>(l.all) * size);
  v.set("b", static_cast<double>(l.longest) * size);
  v.set("pof2", static_cast<double>(std::bit_floor(static_cast<unsigned>(p.ranks))));
  v.set("ordered", p.ordered ? 1 : 0);
  v.set("in_place", p.in_place ? 1 : 0);
  v.set("word", 8);
  v.set("first", p.first_group);
  v.set("second", p.ranks - p.first_group);
  v.set("sources", static_cast<double>(l.degree_in));
  v.set("destinations", static_cast<double>(l.degree_out));
  for (std::size_t i = 0; i < p.parameter_values.size(); ++i)
    if (p.parameter_values[i] != 0)
      // 0: the algorithm has no such parameter
      v.set(algorithm_parameter_names[i], p.parameter_values[i]);
  const auto segment =
      static_cast<std::size_t>(p.parameter_values[static_cast<std::size_t>(algorithm_parameter::segment)]);
  if (segment != 0) {
    // in elements, as the executor cuts it
    const std::size_t each = std::max(segment / p.element_bytes, std::size_t{1});
    v.set("segments", static_cast<double>((l.all + each - 1) / each));
  }
  return v;
}

}  // namespace

variables variables_of(const abstract_call& p) {
  call_lengths l;
  if (is_alltoallv(p.what) || p.what == collective::neighbor_alltoallv) {
    for (const auto* tables : {&p.in, &p.out})
      for (const block_table& t : *tables)
        for (const std::size_t c : t.counts) l.longest = std::max(l.longest, c);
    for (const block_table& t : p.in_place ? p.out : p.in) l.all = std::max(l.all, sum_of(t.counts));
  } else {
    add_lengths_of_counts(p, p.in.empty() ? 0 : sum_of(p.in[0].counts), l);
  }
  for (const auto& s : p.sources) l.degree_in = std::max(l.degree_in, s.size());
  for (const auto& d : p.destinations) l.degree_out = std::max(l.degree_out, d.size());
  return variables_of(p, l);
}

variables variables_of(const case_options& w) {
  using side = block_rule::side;
  const block_rule rule(w);
  abstract_call p = rule.head();
  call_lengths l;
  if (is_neighborhood(w.what))
    for (int r = 0; r < w.ranks; ++r) {
      l.degree_in = std::max(l.degree_in, rule.sources(r).size());
      l.degree_out = std::max(l.degree_out, rule.destinations(r).size());
    }
  if (is_alltoallv(w.what) || w.what == collective::neighbor_alltoallv) {
    const side sent = w.in_place ? side::out : side::in;
    for (int r = 0; r < w.ranks; ++r) {
      std::size_t all = 0;
      if (w.blocks == blocks_are::even && is_alltoallv(w.what)) {
        all = w.count * static_cast<std::size_t>(p.remote_group(r).size());
        l.longest = std::max(l.longest, w.count);
      } else {
        for (const int owner : rule.block_owners(sent, r)) {
          all += rule.length(sent, r, owner);
          l.longest = std::max(l.longest, rule.length(sent, r, owner));
        }
      }
      l.all = std::max(l.all, all);
    }
  } else {
    for (int r = 0; r < w.ranks; ++r) p.counts.push_back(rule.count(r));
    p.in.resize(p.counts.size());
    std::size_t operand = 0;
    for (const int owner : rule.block_owners(side::in, 0)) operand += rule.length(side::in, 0, owner);
    add_lengths_of_counts(p, operand, l);
  }
  return variables_of(p, l);
}

}  // namespace tutti::proof
