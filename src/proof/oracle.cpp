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
std::vector<symbol> with_gaps(const block_table& l) {
  std::vector<symbol> cells(l.extent(), gap);
  for (std::size_t i = 0; i < l.counts.size(); ++i)
    std::fill_n(cells.begin() + static_cast<std::ptrdiff_t>(l.displs[i]), l.counts[i], uninitialized);
  return cells;
}

std::vector<symbol> empty_cells(const block_table& l, std::size_t size) {
  return l.counts.empty() ? std::vector<symbol>(size, uninitialized) : with_gaps(l);
}

bool is_gather(collective w) {
  return w == collective::gather || w == collective::allgather || w == collective::gatherv ||
         w == collective::allgatherv;
}

}  // namespace

oracle::oracle(const abstract_call& p, symbols& s, int rank) : call_(p), symbols_(s), operands_(at(p.ranks)) {
  make_operand(rank);
}

void oracle::make_operand(int r) {
  const abstract_call& p = call_;
  if (!p.has_operand(r)) return;
  // In place, the operand of an exchange has the layout of the result; that of a gather is one
  // block of the result.
  const bool aliased = p.aliased_at(r);
  std::size_t size = p.input_size(r);
  if (aliased) size = is_gather(p.what) ? p.counts[at(r)] : p.output_size(r);
  const bool in_output = aliased && !is_gather(p.what) && p.in[at(r)].counts.empty();
  operands_[at(r)] = empty_cells(in_output ? p.out[at(r)] : p.in[at(r)], size);
  for (std::size_t i = 0; i < size; ++i)
    if (operands_[at(r)][i] != gap) operands_[at(r)][i] = symbols_.operand(r, i);
}

oracle::oracle(const abstract_call& p, symbols& s) : call_(p), symbols_(s), operands_(at(p.ranks)) {
  for (int r = 0; r < p.ranks; ++r) make_operand(r);
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
  for (const int member : {0, call_.ranks - 1}) {
    const abstract_call::range group = call_.local_group(member);
    auto& all = reduced_[group.first == 0 ? 0 : 1];
    all = operands_[at(group.first)];
    for (int r = group.first + 1; r < group.last; ++r)
      for (std::size_t i = 0; i < all.size(); ++i) all[i] = symbols_.product(all[i], operands_[at(r)][i]);
  }
}

void oracle::combine_prefixes(bool inclusive) {
  prefixes_.resize(at(call_.ranks));
  std::vector<symbol> prefix = operands_[0];
  if (inclusive) prefixes_[0] = prefix;
  for (int r = 1; r < call_.ranks; ++r) {
    if (!inclusive) prefixes_[at(r)] = prefix;
    for (std::size_t i = 0; i < prefix.size(); ++i)
      prefix[i] = symbols_.product(prefix[i], operands_[at(r)][i]);
    if (inclusive) prefixes_[at(r)] = prefix;
  }
}

void oracle::fill(int rank, std::vector<symbol>& input, std::vector<symbol>& output) const {
  const auto& operand = operands_[at(rank)];
  const block_table& out = call_.out[at(rank)];
  input.clear();
  if (!call_.has_result(rank))
    output.clear();
  else
    output = empty_cells(out, call_.output_size(rank));
  if (!call_.aliased_at(rank)) {
    input = operand;
    if (call_.what == collective::exscan && rank == 0)
      output.assign(output.size(), gap);  // must not be written
  } else if (!is_gather(call_.what)) {
    output = operand;
  } else {
    const std::size_t begin = out.counts.empty() ? at(rank) * call_.counts[at(rank)] : out.displs[at(rank)];
    std::copy(operand.begin(), operand.end(), output.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

std::vector<symbol> oracle::expected(int rank) const {
  std::vector<symbol> all;
  if (!call_.has_result(rank)) return all;
  const std::size_t n = call_.counts[at(rank)];
  const abstract_call::range from = call_.remote_group(rank);
  const block_table& out = call_.out[at(rank)];
  all.assign(call_.output_size(rank), uninitialized);
  if (all.empty()) return all;
  // Expects `count` elements of the operand of `sender`, from `begin` on, at `target`.
  const auto expect = [&](std::size_t target, int sender, std::size_t begin, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) all[target + i] = operands_[at(sender)][begin + i];
  };
  // index of this rank's block at each sender
  const int position = rank - call_.local_group(rank).first;
  switch (call_.what) {
    case collective::barrier:
      break;
    case collective::bcast:
      expect(0, call_.root, 0, n);
      break;
    case collective::reduce:
    case collective::allreduce:
      all = reduced(rank);
      break;
    case collective::reduce_scatter:
    case collective::reduce_scatter_block: {
      std::size_t begin = 0;
      for (int r = call_.local_group(rank).first; r < rank; ++r) begin += call_.counts[at(r)];
      for (std::size_t i = 0; i < n; ++i) all[i] = reduced(rank)[begin + i];
      break;
    }
    case collective::scan:
      all = prefixes_[at(rank)];
      break;
    case collective::exscan:  // rank 0 receives nothing
      if (rank > 0)
        all = prefixes_[at(rank)];
      else if (call_.aliased_at(rank))
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
      expect(0, call_.root, at(position) * n, n);
      break;
    case collective::scatterv:
      expect(0, call_.root, call_.in[at(call_.root)].displs[at(position)], n);
      break;
    case collective::alltoall:
      for (int r = from.first; r < from.last; ++r) expect(at(r - from.first) * n, r, at(position) * n, n);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
      for (int r = from.first; r < from.last; ++r) {
        const block_table& theirs = call_.aliased_at(rank) ? call_.out[at(r)] : call_.in[at(r)];
        const std::size_t i = at(r - from.first);
        expect(out.displs[i], r, theirs.displs[at(position)], out.counts[i]);
      }
      break;
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv: {
      const auto& sources = call_.sources[at(rank)];
      for (std::size_t i = 0; i < sources.size(); ++i) {
        std::size_t begin = 0;
        if (call_.what == collective::neighbor_alltoallv) {
          const auto& theirs = call_.destinations[at(sources[i])];
          const auto mine = std::find(theirs.begin(), theirs.end(), rank) - theirs.begin();
          begin = call_.in[at(sources[i])].displs[static_cast<std::size_t>(mine)];
        }
        expect(out.displs[i], sources[i], begin, out.counts[i]);
      }
      break;
    }
  }
  return all;
}

}  // namespace tutti::proof
