// SPDX-License-Identifier: Apache-2.0
//
// Longer than a screen: accesses and effects of a call have one case for each collective.
#include "proof/inner_call_rules.hpp"

#include <numeric>

namespace tutti::proof {
namespace {

using table_of_counts = std::vector<std::size_t>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

element_range range_of(const area& a, std::size_t n) { return {a.where, a.offset, a.offset + n}; }

void add(std::vector<element_range>& all, const area& a, std::size_t n) {
  if (n != 0) all.push_back(range_of(a, n));
}

void add_blocks(std::vector<element_range>& all, const area& a, const table_of_counts& counts,
                const table_of_counts& displs, int members, const char* which) {
  if (counts.size() != at(members) || displs.size() != at(members))
    throw invalid_call(std::string(which) + " counts and displacements are " + std::to_string(counts.size()) +
                       " and " + std::to_string(displs.size()) + " for " + std::to_string(members) +
                       " members");
  for (std::size_t i = 0; i < counts.size(); ++i) add(all, a + displs[i], counts[i]);
}

std::size_t sum(const table_of_counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

const area& operand_of(const subcall& c) { return c.in_place ? c.output : c.input; }

}  // namespace

accesses accesses_of(const subcall& c, int position, int members) {
  accesses t;
  const bool root = position == c.root;
  const std::size_t all = c.count * at(members), me = at(position);
  switch (c.what) {
    case collective::barrier:
      break;
    case collective::bcast:
      if (root)
        add(t.reads, operand_of(c), c.count);
      else
        add(t.writes, c.output, c.count);
      break;
    case collective::reduce:
    case collective::allreduce:
    case collective::scan:
    case collective::exscan:
      add(t.reads, operand_of(c), c.count);
      if (c.what == collective::reduce ? root : c.what != collective::exscan || position != 0)
        add(t.writes, c.output, c.count);
      break;
    case collective::gather:
    case collective::allgather: {
      const bool receives = root || c.what == collective::allgather;
      if (c.in_place)
        add(t.reads, receives ? c.output + me * c.count : c.output, c.count);
      else
        add(t.reads, c.input, c.count);
      if (receives) add(t.writes, c.output, all);
      break;
    }
    case collective::gatherv:
    case collective::allgatherv: {
      const bool receives = root || c.what == collective::allgatherv;
      if (receives) add_blocks(t.writes, c.output, c.out_counts, c.out_displs, members, "out");
      if (c.in_place)
        add(t.reads, receives ? c.output + c.out_displs[me] : c.output, c.count);
      else
        add(t.reads, c.input, c.count);
      break;
    }
    case collective::scatter:
    case collective::scatterv:
      if (root && c.what == collective::scatter)
        add(t.reads, c.input, all);
      else if (root)
        add_blocks(t.reads, c.input, c.in_counts, c.in_displs, members, "in");
      if (!root || !c.in_place) add(t.writes, c.output, c.count);
      break;
    case collective::alltoall:
      add(t.reads, operand_of(c), all);
      add(t.writes, c.output, all);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
      add_blocks(t.writes, c.output, c.out_counts, c.out_displs, members, "out");
      if (c.in_place)
        t.reads = t.writes;
      else
        add_blocks(t.reads, c.input, c.in_counts, c.in_displs, members, "in");
      break;
    case collective::reduce_scatter:
    case collective::reduce_scatter_block: {
      const bool block = c.what == collective::reduce_scatter_block;
      if (!block && (c.in_counts.size() != at(members) || c.out_counts != c.in_counts))
        throw invalid_call("a reduce_scatter needs one count for each member, the same on both sides");
      const std::size_t n = block ? all : sum(c.in_counts);
      add(t.reads, operand_of(c), n);
      // in place the rest of the operand is lost
      add(t.writes, c.output, c.in_place ? n : c.count);
      break;
    }
    default:
      throw invalid_call("no composition calls " + std::string(name_of(c.what)));
  }
  return t;
}

void require_agreement(const std::vector<participant>& members) {
  const subcall& first = *members[0].call;
  const auto require = [](bool holds, std::size_t member, const char* what) {
    if (!holds) throw invalid_call("members 0 and " + std::to_string(member) + " differ in " + what);
  };
  const bool root_alone = is_rooted(first.what) && first.what != collective::bcast;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const subcall& c = *members[i].call;
    require(c.what == first.what, i, "the collective");
    require(c.nonblocking == first.nonblocking, i, "whether it is nonblocking");
    if (!is_vector_form(c.what)) require(c.count == first.count, i, "the count");
    if (!root_alone) require(c.in_place == first.in_place, i, "whether it is in place");
    if (!is_rooted(c.what)) continue;
    require(c.root == first.root, i, "the root");
    if (c.root < 0 || at(c.root) >= members.size()) throw invalid_call("its root is not a member");
  }
  const subcall& root = *members[is_rooted(first.what) ? at(first.root) : 0].call;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const subcall& c = *members[i].call;
    switch (c.what) {
      case collective::gatherv:
        require(root.out_counts[i] == c.count, i, "what the root receives and a member sends");
        break;
      case collective::scatterv:
        require(root.in_counts[i] == c.count, i, "what the root sends and a member receives");
        break;
      case collective::allgatherv:
      case collective::reduce_scatter:
        require(c.out_counts == first.out_counts, i, "the counts");
        require(c.out_counts[i] == c.count, i, "the member's count and that of the others");
        break;
      case collective::alltoallv:
      case collective::alltoallw:
        for (std::size_t j = 0; j < members.size(); ++j) {
          const subcall& other = *members[j].call;
          require((c.in_place ? c.out_counts : c.in_counts)[j] == other.out_counts[i], j,
                  "the counts of a pair");
        }
        break;
      default:
        break;
    }
  }
}

namespace {

using cells = std::vector<symbol>;

void write(const participant& member, const area& to, const cells& what, std::size_t from,
           std::size_t count) {
  auto& memory = member.buffers->of(to.where);
  for (std::size_t i = 0; i < count; ++i) memory[to.offset + i] = what[from + i];
}

// The data that each member contributes: its operand, or its blocks one after the other.
std::vector<cells> operands_of(const std::vector<participant>& members) {
  std::vector<cells> operands(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    const accesses t = accesses_of(*members[i].call, static_cast<int>(i), static_cast<int>(members.size()));
    for (const element_range& r : t.reads) {
      const auto begin = members[i].buffers->of(r.where).begin();
      operands[i].insert(operands[i].end(), begin + static_cast<std::ptrdiff_t>(r.first),
                         begin + static_cast<std::ptrdiff_t>(r.end));
    }
  }
  return operands;
}

cells combined(const std::vector<cells>& operands, symbols& s) {
  cells all = operands[0];
  for (std::size_t i = 1; i < operands.size(); ++i)
    for (std::size_t k = 0; k < all.size(); ++k) all[k] = s.product(all[k], operands[i][k]);
  return all;
}

void gather_at(const participant& member, const std::vector<cells>& operands) {
  const subcall& c = *member.call;
  for (std::size_t i = 0; i < operands.size(); ++i)
    write(member, c.output + (is_vector_form(c.what) ? c.out_displs[i] : i * c.count), operands[i], 0,
          operands[i].size());
}

}  // namespace

void perform(const std::vector<participant>& members, symbols& s) {
  const subcall& first = *members[0].call;
  const std::size_t n = members.size();
  const std::vector<cells> operands = operands_of(members);
  const auto root = at(first.root);
  switch (first.what) {
    case collective::barrier:
      break;
    case collective::bcast:
      for (std::size_t i = 0; i < n; ++i)
        if (i != root) write(members[i], members[i].call->output, operands[root], 0, first.count);
      break;
    case collective::reduce:
      write(members[root], members[root].call->output, combined(operands, s), 0, first.count);
      break;
    case collective::allreduce: {
      const auto all = combined(operands, s);
      for (std::size_t i = 0; i < n; ++i) write(members[i], members[i].call->output, all, 0, first.count);
      break;
    }
    case collective::scan:
    case collective::exscan: {
      auto prefix = operands[0];
      for (std::size_t i = 0; i < n; ++i) {
        if (first.what == collective::exscan && i > 0)
          write(members[i], members[i].call->output, prefix, 0, first.count);
        for (std::size_t k = 0; i > 0 && k < prefix.size(); ++k)
          prefix[k] = s.product(prefix[k], operands[i][k]);
        if (first.what == collective::scan)
          write(members[i], members[i].call->output, prefix, 0, first.count);
      }
      break;
    }
    case collective::gather:
    case collective::gatherv:
      gather_at(members[root], operands);
      break;
    case collective::allgather:
    case collective::allgatherv:
      for (std::size_t i = 0; i < n; ++i) gather_at(members[i], operands);
      break;
    case collective::scatter:
    case collective::scatterv: {
      std::size_t from = 0;
      for (std::size_t i = 0; i < n; from += members[i++].call->count)
        if (i != root || !members[i].call->in_place)
          write(members[i], members[i].call->output, operands[root], from, members[i].call->count);
      break;
    }
    case collective::alltoall:
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
          write(members[i], members[i].call->output + j * first.count, operands[j], i * first.count,
                first.count);
      break;
    case collective::alltoallv:
    case collective::alltoallw:
      for (std::size_t j = 0; j < n; ++j) {
        const subcall& sender = *members[j].call;
        std::size_t from = 0;
        for (std::size_t i = 0; i < n; ++i) {
          const std::size_t count = members[i].call->out_counts[j];
          const subcall& receiver = *members[i].call;
          write(members[i], receiver.output + receiver.out_displs[j], operands[j], from, count);
          from += (sender.in_place ? sender.out_counts : sender.in_counts)[i];
        }
      }
      break;
    case collective::reduce_scatter:
    case collective::reduce_scatter_block: {
      const auto all = combined(operands, s);
      std::size_t from = 0;
      for (std::size_t i = 0; i < n; from += members[i++].call->count) {
        const subcall& c = *members[i].call;
        if (c.in_place) write(members[i], c.output, cells(all.size(), uninitialized), 0, all.size());
        write(members[i], c.output, all, from, c.count);
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace tutti::proof
