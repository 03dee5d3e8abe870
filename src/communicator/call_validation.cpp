// SPDX-License-Identifier: Apache-2.0
//
#include "communicator/call_validation.hpp"

#include <algorithm>
#include <string>

#include "tutti/error.hpp"
#include "tutti/layout.hpp"

namespace tutti::detail {

namespace {

// The parameters by which the program passes the operand and the memory for the result.
const char* operand_name(const call& c) noexcept {
  return c.in_place || c.what == collective::bcast ? "send_recv_buf" : "send_buf";
}
const char* result_name(const call& c) noexcept {
  return c.in_place || c.what == collective::bcast ? "send_recv_buf" : "recv_buf";
}

// Between two groups: this rank is in the group of the root, where only the root takes part.
bool in_root_group(const communicator_state& where, const call& c) noexcept {
  return where.inter() && is_rooted(c.what) &&
         (where.rank() < where.graph().first_group) == (c.root < where.graph().first_group);
}

// Throws if data of two ranks would be received into one place. Ascending blocks are the most
// frequent case, and cost one pass.
void reject_overlap(const communicator_state& where, const call& c, const counts_view& counts,
                    const counts_view& displs) {
  const std::size_t n = counts.size();
  struct span {
    std::size_t from, to, block;
  };
  const auto span_of = [&](std::size_t i) -> span {
    if (c.out_types == nullptr) return {displs[i], displs[i] + counts[i], i};
    std::size_t to = 0;
    for (const layout::piece& p : c.out_types[i].pieces())
      to = std::max(to, static_cast<std::size_t>(p.offset) + p.bytes);
    return {displs[i], displs[i] + (counts[i] - 1) * c.out_types[i].extent() + to, i};
  };
  std::size_t end = 0;
  bool ascending = true;
  for (std::size_t i = 0; i < n && ascending; ++i) {
    if (counts[i] == 0) continue;
    const span s = span_of(i);
    ascending = s.from >= end && (c.out_types == nullptr || c.out_types[i].is_contiguous());
    end = s.to;
  }
  if (ascending) return;
  // Layouts may interleave, so each of their pieces is compared.
  std::vector<span> all;
  for (std::size_t i = 0; i < n; ++i) {
    if (counts[i] == 0) continue;
    if (c.out_types == nullptr) {
      all.push_back(span_of(i));
      continue;
    }
    for (std::size_t k = 0; k < counts[i]; ++k)
      for (const layout::piece& p : c.out_types[i].pieces()) {
        const std::size_t from = displs[i] + k * c.out_types[i].extent() + static_cast<std::size_t>(p.offset);
        all.push_back({from, from + p.bytes, i});
      }
  }
  std::sort(all.begin(), all.end(), [](const span& a, const span& b) { return a.from < b.from; });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1].to > all[i].from)
      where.reject(called(c), c.out_types != nullptr ? "recv_types" : "recv_displs",
                   all[i - 1].block == all[i].block
                       ? "lets block " + std::to_string(all[i].block) + " overlap itself"
                       : "places block " + std::to_string(all[i].block) + " over block " +
                             std::to_string(all[i - 1].block),
                   "pass displacements at which received blocks do not overlap");
}

// Edges of a rank to itself are copied in order, so this rank knows both ends.
void validate_self_edges(const communicator_state& where, const call& c) {
  std::size_t to = 0;
  for (std::size_t from = 0; from < where.graph().sources.size(); ++from) {
    if (where.graph().sources[from] != where.rank()) continue;
    while (to < where.graph().destinations.size() && where.graph().destinations[to] != where.rank()) ++to;
    if (to == where.graph().destinations.size()) return;  // checked mode finds edges with one end
    const std::size_t sent = c.what == collective::neighbor_allgatherv ? c.count : c.in_counts[to];
    if (sent != c.out_counts[from])
      where.reject(called(c), "recv_counts",
                   "is " + std::to_string(c.out_counts[from]) + " from this rank to itself, but it sends " +
                       std::to_string(sent),
                   "pass equal counts for both ends of the edge");
    ++to;
  }
}

// The counts and displacements of one direction of a vector form, with the names of their
// parameters.
struct block_arguments {
  counts_view counts, displs;
  const char *counts_name, *displs_name;
  const void* data;
  const char* buffer_name;
  std::size_t blocks;
  const layout* types;
};

void validate_blocks(const communicator_state& where, const call& c, const block_arguments& m) {
  const auto reject = [&](const char* parameter, const std::string& problem, const char* remedy) {
    where.reject(called(c), parameter, problem, remedy);
  };
  if (!m.counts.given()) {
    if (m.blocks != 0) reject(m.counts_name, "is missing", "pass one count for each block");
    return;
  }
  const std::string expected = " for " + std::to_string(m.blocks) + " " +
                               (is_neighborhood(c.what) ? "neighbors"
                                : where.inter()         ? "ranks on that side"
                                                        : "ranks");
  if (m.counts.size() != m.blocks)
    reject(m.counts_name, "has " + std::to_string(m.counts.size()) + " counts" + expected,
           "pass one count for each of them");
  if (m.displs.given() && m.displs.size() != m.blocks)
    reject(m.displs_name, "has " + std::to_string(m.displs.size()) + " displacements" + expected,
           "pass one displacement for each of them");
  std::size_t end = 0, total = 0;
  for (std::size_t i = 0; i < m.blocks; ++i) {
    if (m.counts.negative(i))
      reject(m.counts_name, "is negative for rank " + std::to_string(i), "counts are 0 or more");
    if (m.displs.given() && m.displs.negative(i))
      reject(m.displs_name, "is negative for rank " + std::to_string(i), "displacements are 0 or more");
    std::size_t reach = 0, length = m.counts[i];
    if ((m.types != nullptr && __builtin_mul_overflow(length, m.types[i].extent(), &length)) ||
        __builtin_add_overflow(total, length, &total) ||
        __builtin_add_overflow(m.displs.given() ? m.displs[i] : total - length, length, &reach))
      reject(m.counts_name, "add up to more than the address space", "send fewer elements");
    end = std::max(end, reach);
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(end, c.type.size, &bytes) || bytes > static_cast<std::size_t>(PTRDIFF_MAX))
    reject(m.counts_name, "add up to more bytes than the address space", "send fewer elements");
  if (total > 0 && m.data == nullptr)
    reject(m.buffer_name, "is null, with counts that add up to " + std::to_string(total), "pass a buffer");
}

bool is_all_to_all(collective what) noexcept {
  return what == collective::alltoallv || what == collective::alltoallw ||
         what == collective::neighbor_alltoallv;
}

// The counts of the block that a rank sends to itself must be equal on both sides.
void validate_self_block(const communicator_state& where, const call& c) {
  const auto me = static_cast<std::size_t>(where.rank());
  const bool at_root = where.rank() == c.root;
  if (c.in_place) return;
  if ((c.what == collective::allgatherv || (c.what == collective::gatherv && at_root)) &&
      c.count != c.out_counts[me])
    where.reject(
        called(c), "recv_counts",
        "is " + std::to_string(c.out_counts[me]) + " for this rank, which sends " + std::to_string(c.count),
        "set this rank's entry to the number of elements in send_buf");
  if (c.what == collective::scatterv && at_root && c.count != c.in_counts[me])
    where.reject(called(c), "recv_count",
                 "is " + std::to_string(c.count) + ", but send_counts has " +
                     std::to_string(c.in_counts[me]) + " for this rank",
                 "pass equal counts");
  if (!is_all_to_all(c.what)) return;
  const std::size_t sent = c.in_counts[me] * (c.in_types != nullptr ? c.in_types[me].size() : 1);
  const std::size_t received = c.out_counts[me] * (c.out_types != nullptr ? c.out_types[me].size() : 1);
  if (sent != received)
    where.reject(called(c), "recv_counts",
                 "is " + std::to_string(received) + (c.what == collective::alltoallw ? " bytes" : "") +
                     " from this rank to itself, but send_counts has " + std::to_string(sent),
                 "pass equal counts for this rank's own block");
}

void validate_vectors(const communicator_state& where, const call& c) {
  const auto send_blocks = static_cast<std::size_t>(where.send_block_count(c.what)),
             recv_blocks = static_cast<std::size_t>(where.recv_block_count(c.what));
  const bool at_root = where.rank() == c.root;
  const bool reads_many =
      (c.what == collective::scatterv && at_root) || (is_all_to_all(c.what) && !c.in_place);
  const bool writes_many = (c.what == collective::gatherv && at_root) || c.what == collective::allgatherv ||
                           c.what == collective::neighbor_allgatherv || is_all_to_all(c.what);
  if (reads_many)
    validate_blocks(where, c,
                    {c.in_counts, c.in_displs, "send_counts", "send_displs", c.input, "send_buf", send_blocks,
                     c.in_types});
  if (writes_many) {
    validate_blocks(where, c,
                    {c.out_counts, c.out_displs, "recv_counts", "recv_displs", c.output, "recv_buf",
                     recv_blocks, c.out_types});
    if (c.out_displs.given()) reject_overlap(where, c, c.out_counts, c.out_displs);
  }
  // The single block of a vector form.
  const bool outside_root_group = !in_root_group(where, c);
  const bool sends_one = c.what == collective::gatherv
                             ? outside_root_group && (!where.inter() || !at_root)
                             : c.what == collective::allgatherv || c.what == collective::neighbor_allgatherv;
  const bool receives_one =
      c.what == collective::scatterv ? outside_root_group : c.what == collective::reduce_scatter;
  const auto reject_null = [&](const char* which, std::size_t count) {
    where.reject(called(c), which, "is null, with a count of " + std::to_string(count),
                 "pass a buffer of that many elements");
  };
  if (sends_one && !(c.in_place && (at_root || c.what != collective::gatherv)) && c.count > 0 &&
      c.input == nullptr)
    reject_null(operand_name(c), c.count);
  const std::size_t recv_count =
      c.what == collective::reduce_scatter && c.out_counts.given() && !where.inter()
          ? c.out_counts[static_cast<std::size_t>(where.rank())]
          : c.count;
  if (receives_one && !c.in_place && recv_count > 0 && c.output == nullptr)
    reject_null(result_name(c), recv_count);
  if (c.what == collective::reduce_scatter)
    validate_blocks(where, c,
                    {c.out_counts,
                     {},
                     "recv_counts",
                     "",
                     c.in_place ? c.output : c.input,
                     c.in_place ? "send_recv_buf" : "send_buf",
                     send_blocks,
                     nullptr});
  if (is_neighborhood(c.what))
    validate_self_edges(where, c);
  else if (!where.inter())
    validate_self_block(where, c);
}

}  // namespace

void validate(const communicator_state& where, const call& c) {
  const char* name = called(c);
  where.validate_usable(name);
  const bool rooted = is_rooted(c.what);
  if (rooted && (c.root < 0 || c.root >= where.size())) where.reject_rank(name, "root", c.root);
  if (combines(c.what) && c.op.combine == nullptr) where.reject(name, "op", "is missing", "pass op(...)");
  if (c.type.size == 0)
    where.reject(name, "send_buf", "has elements of size 0", "send elements of at least one byte");
  if (is_neighborhood(c.what) && !where.graph().graph)
    where.reject(name, "communicator", "has no graph",
                 "call it on a communicator that graph(sources, destinations) returned");
  if (where.inter() && (c.what == collective::scan || c.what == collective::exscan))
    where.reject(name, "communicator", "has two groups, between which there is no order",
                 "scan within one group");
  if (where.inter() && c.in_place)
    where.reject(name, "send_recv_buf", "is given for a call between two groups",
                 "pass send_buf and recv_buf");
  if (is_vector_form(c.what)) {
    validate_vectors(where, c);
    return;
  }
  if (c.what == collective::barrier || c.count == 0) return;
  std::size_t bytes = 0;
  const bool by_rank = c.what == collective::gather || c.what == collective::scatter ||
                       c.what == collective::allgather || c.what == collective::alltoall ||
                       c.what == collective::reduce_scatter_block;
  if (__builtin_mul_overflow(c.count, c.type.size, &bytes) ||
      (by_rank &&
       __builtin_mul_overflow(bytes, static_cast<std::size_t>(where.send_block_count(c.what)), &bytes)) ||
      bytes > static_cast<std::size_t>(PTRDIFF_MAX))
    where.reject(name, "count", std::to_string(c.count) + " elements exceed the address space",
                 "send fewer elements");
  const bool at_root = where.rank() == c.root, outside_root_group = !in_root_group(where, c);
  const bool root_sends = c.what == collective::bcast || c.what == collective::scatter;
  const bool reads = !c.in_place && (root_sends ? at_root : outside_root_group);
  const bool writes = c.what == collective::bcast ? !at_root && outside_root_group
                      : c.what == collective::gather || c.what == collective::reduce ? at_root
                      : c.what == collective::exscan                                 ? where.rank() != 0
                      : c.what == collective::scatter ? !c.in_place && outside_root_group
                                                      : true;
  if (reads && c.input == nullptr)
    where.reject(name, operand_name(c), "is null, with a count of " + std::to_string(c.count),
                 "pass a buffer of that many elements");
  if (writes && c.output == nullptr)
    where.reject(name, result_name(c), "is null, with a count of " + std::to_string(c.count),
                 "pass a buffer of that many elements");
  if (reads && writes && c.input == c.output && c.what != collective::bcast)
    where.reject(name, "recv_buf", "is also the send buffer", "pass send_recv_buf(...) to work in place");
}

}  // namespace tutti::detail
