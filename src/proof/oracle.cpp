// SPDX-License-Identifier: Apache-2.0
//
// Longer than a screen: the expected results have one case for each collective, which are read
// together.
#include "proof/oracle.hpp"

#include <algorithm>

namespace tutti::proof {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Gaps everywhere except in the blocks of the table.
std::vector<symbol> with_gaps(const layout& l) {
  std::vector<symbol> cells(l.extent(), gap);
  for (std::size_t i = 0; i < l.counts.size(); ++i)
    std::fill_n(cells.begin() + static_cast<std::ptrdiff_t>(l.displs[i]), l.counts[i], uninitialised);
  return cells;
}

std::vector<symbol> empty_cells(const layout& l, std::size_t size) {
  return l.counts.empty() ? std::vector<symbol>(size, uninitialised) : with_gaps(l);
}

bool gathers(collective w) {
  return w == collective::gather || w == collective::allgather || w == collective::gatherv ||
         w == collective::allgatherv;
}

}  // namespace

oracle::oracle(const plan& p, symbols& s) : plan_(p), symbols_(s), operands_(at(p.ranks)) {
  for (int r = 0; r < p.ranks; ++r) {
    if (!p.gives(r)) continue;
    // In place, the operand of an exchange has the layout of the result; that of a gather is one
    // block of the result.
    const bool aliased = p.aliased_at(r);
    std::size_t size = p.input_size(r);
    if (aliased) size = gathers(p.what) ? p.counts[at(r)] : p.output_size(r);
    const bool in_output = aliased && !gathers(p.what) && p.in[at(r)].counts.empty();
    operands_[at(r)] = empty_cells(in_output ? p.out[at(r)] : p.in[at(r)], size);
    for (std::size_t i = 0; i < size; ++i)
      if (operands_[at(r)][i] != gap) operands_[at(r)][i] = s.letter(r, i);
  }
  switch (p.what) {
    case collective::reduce:
    case collective::allreduce:
    case collective::reduce_scatter:
    case collective::reduce_scatter_block:
      combine_groups();
      break;
    case collective::scan:
    case collective::exscan:
      combine_prefixes(p.what == collective::scan);
      break;
    default:
      break;
  }
}

void oracle::combine_groups() {
  for (const int member : {0, plan_.ranks - 1}) {
    const plan::range group = plan_.own_group(member);
    auto& all = reduced_[group.first == 0 ? 0 : 1];
    all = operands_[at(group.first)];
    for (int r = group.first + 1; r < group.last; ++r)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = symbols_.product(all[i], operands_[at(r)][i]);
  }
}

void oracle::combine_prefixes(bool inclusive) {
  prefixes_.resize(at(plan_.ranks));
  std::vector<symbol> so_far = operands_[0];
  if (inclusive) prefixes_[0] = so_far;
  for (int r = 1; r < plan_.ranks; ++r) {
    if (!inclusive) prefixes_[at(r)] = so_far;
    for (std::size_t i = 0; i < so_far.size(); ++i)
      so_far[i] = symbols_.product(so_far[i], operands_[at(r)][i]);
    if (inclusive) prefixes_[at(r)] = so_far;
  }
}

void oracle::fill(int rank, std::vector<symbol>& input, std::vector<symbol>& output) const {
  const auto& operand = operands_[at(rank)];
  const layout& out = plan_.out[at(rank)];
  input.clear();
  if (!plan_.receives(rank))
    output.clear();
  else
    output = empty_cells(out, plan_.output_size(rank));
  if (!plan_.aliased_at(rank)) {
    input = operand;
    if (plan_.what == collective::exscan && rank == 0)
      output.assign(output.size(), gap);  // must not be written
  } else if (!gathers(plan_.what)) {
    output = operand;
  } else {
    const std::size_t begin = out.counts.empty() ? at(rank) * plan_.counts[at(rank)] : out.displs[at(rank)];
    std::copy(operand.begin(), operand.end(), output.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

std::vector<symbol> oracle::expected(int rank) const {
  std::vector<symbol> all;
  if (!plan_.receives(rank)) return all;
  const std::size_t n = plan_.counts[at(rank)];
  const plan::range from = plan_.others(rank);
  const layout& out = plan_.out[at(rank)];
  all.assign(plan_.output_size(rank), uninitialised);
  if (all.empty()) return all;
  // Expects `count` elements of the operand of `giver`, from `begin` on, at `target`.
  const auto expect = [&](std::size_t target, int giver, std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all[target + i] = operands_[at(giver)][begin + i];
  };
  // index of this rank's block at each sender
  const int place = rank - plan_.own_group(rank).first;
  switch (plan_.what) {
    case collective::barrier:
      break;
    case collective::bcast:
      expect(0, plan_.root, 0, n);
      break;
    case collective::reduce:
    case collective::allreduce:
      all = reduced(rank);
      break;
    case collective::reduce_scatter:
    case collective::reduce_scatter_block: {
      std::size_t begin = 0;
      for (int r = plan_.own_group(rank).first; r < rank; ++r) begin += plan_.counts[at(r)];
      for (std::size_t i = 0; i < n; ++i) all[i] = reduced(rank)[begin + i];
      break;
    }
    case collective::scan:
      all = prefixes_[at(rank)];
      break;
    case collective::exscan:  // rank 0 receives nothing
      if (rank > 0)
        all = prefixes_[at(rank)];
      else if (plan_.aliased_at(rank))
        all = operands_[0];
      break;
    case collective::gather:
    case collective::allgather:
      for (int r = from.first; r < from.last; ++r) expect(at(r - from.first) * n, r, 0, n);
      break;
    case collective::gatherv:
    case collective::allgatherv:
      for (int r = from.first; r < from.last; ++r)
        expect(out.displs[at(r - from.first)], r, 0, out.counts[at(r - from.first)]);
      break;
    case collective::scatter:
      expect(0, plan_.root, at(place) * n, n);
      break;
    case collective::scatterv:
      expect(0, plan_.root, plan_.in[at(plan_.root)].displs[at(place)], n);
      break;
    case collective::alltoall:
      for (int r = from.first; r < from.last; ++r) expect(at(r - from.first) * n, r, at(place) * n, n);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
      for (int r = from.first; r < from.last; ++r) {
        const layout& theirs = plan_.aliased_at(rank) ? plan_.out[at(r)] : plan_.in[at(r)];
        expect(out.displs[at(r - from.first)], r, theirs.displs[at(place)], out.counts[at(r - from.first)]);
      }
      break;
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv: {
      const auto& sources = plan_.sources[at(rank)];
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::size_t begin = 0;
        if (plan_.what == collective::neighbor_alltoallv) {
          const auto& theirs = plan_.destinations[at(sources[i])];
          const auto mine = std::find(theirs.begin(), theirs.end(), rank) - theirs.begin();
          begin = plan_.in[at(sources[i])].displs[static_cast<std::size_t>(mine)];
        }
        expect(out.displs[i], sources[i], begin, out.counts[i]);
      }
      break;
    }
  }
  return all;
}

}  // namespace tutti::proof
