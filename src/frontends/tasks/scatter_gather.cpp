// SPDX-License-Identifier: Apache-2.0
//
// Scatter and gather by ownership. Long data go between root and owner as any transfer does. Short ones go
// together, by a binomial tree, where there are enough ranks: each rank but the root gets (scatter) or gives
// (gather) one pack of those that are for it and for the ranks below, or from them.
#include "frontends/tasks/scatter_gather.hpp"

#include <cstring>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {
namespace {

constexpr std::size_t max_packed = 1024;  // bytes of a datum
constexpr int min_ranks = 4;

struct entry {
  std::uint32_t index, poisoned;
  std::int32_t owner, unused;
  std::uint64_t bytes;
};

constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

template <class Do>
void for_entries(const std::byte* at, std::size_t bytes, Do&& run) {
  for (const std::byte* const end = at + bytes; at < end;) {
    entry e;
    std::memcpy(&e, at, sizeof e);
    run(e, at);
    at += sizeof e + padded(e.bytes);
  }
}

void append(std::vector<std::byte>& to, const std::byte* from, std::size_t bytes) {
  to.insert(to.end(), from, from + bytes);
}

}  // namespace

binomial::binomial(int rank, int size, int root) noexcept
    : size_(size), root_(root), relative_((rank - root + size) % size), step_(1) {
  const int lowest = relative_ == 0 ? size : relative_ & -relative_;
  while (step_ < lowest) step_ *= 2;
}

scatter_gather_node::scatter_gather_node(task_graph& in, std::uint32_t number, int root, bool gathers)
    : node(false), in_(in), tree_(in.rank(), in.size(), root), number_(number), gathers_(gathers) {}

void scatter_gather_node::let_go() noexcept {
  for (const piece& p : pieces_) p.at->drop();
}

void scatter_gather_node::add(std::uint32_t index, int owner, std::size_t bytes, contents& at) {
  at.keep();
  pieces_.push_back({index, owner, bytes, &at});
}

void scatter_gather_node::write_pieces() {
  for (const piece& p : pieces_) {
    const failure* const f = p.at->poisoned;
    const std::string why = f != nullptr ? text_of(*f) : std::string();
    const entry e{p.index, f != nullptr ? 1u : 0u, p.owner, 0, f != nullptr ? why.size() : p.bytes};
    append(pack_, reinterpret_cast<const std::byte*>(&e), sizeof e);
    append(pack_, f != nullptr ? reinterpret_cast<const std::byte*>(why.data()) : p.at->data, e.bytes);
    pack_.resize(pack_.size() + padded(e.bytes) - e.bytes);
  }
}

void scatter_gather_node::take_pieces(const arrival& a) {
  for_entries(a.in->data(), a.what.bytes, [&](const entry& e, const std::byte* at) {
    for (const piece& p : pieces_) {
      if (p.index != e.index) continue;
      if (e.poisoned != 0) {
        p.at->poisoned = in_.failure_in(reinterpret_cast<const char*>(at + sizeof e), e.bytes);
      } else {
        std::memcpy(p.at->data, at + sizeof e, p.bytes < e.bytes ? p.bytes : e.bytes);
        p.at->poisoned = nullptr;
      }
    }
  });
}

void scatter_gather_node::go(task_graph& in) {
  const bool at_root = tree_.at_root();
  if (gathers_ ? !at_root : at_root) write_pieces();
  if (gathers_ && !at_root)
    for (const auto& a : came_) append(pack_, a->in->data(), a->what.bytes);
  if (gathers_ ? at_root : !at_root)
    for (const auto& a : came_) take_pieces(*a);
  if (gathers_ && !at_root) in.send_pack(tree_.parent(), number_, tree_.root(), pack_);
  if (!gathers_ && at_root) in.pass_pack(tree_, number_, pack_.data(), pack_.size());
  in.complete(*this);
}

// A part of a pack for each rank below, and its own ranks below.
void task_graph::pass_pack(const binomial& tree, std::uint32_t number, const std::byte* at,
                           std::size_t bytes) {
  tree.for_children([&](int child, int first, int last) {
    std::vector<std::byte> part;
    for_entries(at, bytes, [&](const entry& e, const std::byte* from) {
      const int relative = tree.relative_of(e.owner);
      if (relative >= first && relative < last) append(part, from, sizeof e + padded(e.bytes));
    });
    send_pack(child, number, tree.root(), part);
  });
}

void task_graph::send_pack(int to, std::uint32_t number, int root, const std::vector<std::byte>& pack) {
  head what;
  what.kind = message_kind::pack;
  what.sequence = number;
  what.origin = root;
  std::size_t bytes = 0;
  for_entries(pack.data(), pack.size(), [&](const entry& e, const std::byte*) { bytes += e.bytes; });
  if (bytes != 0) count_sent(to, bytes);
  block* const copy = block::make(pack.size());  // where it is long it stays until it is sent
  if (!pack.empty()) std::memcpy(copy->data(), pack.data(), pack.size());
  messenger_.give(to, what, copy->data(), pack.size(), {}, nullptr, copy);
  copy->drop();
}

void task_graph::handle_pack(std::unique_ptr<arrival> a) {
  const binomial tree(rank_, size_, a->what.origin);
  // What comes from above is for those below, too, whatever this rank has inserted by now.
  if (a->from == tree.parent() && !tree.at_root())
    pass_pack(tree, a->what.sequence, a->in->data(), a->what.bytes);
  for (scatter_gather_node* const one : scatters_gathers_under_way_)
    if (one->number() == a->what.sequence) return give_pack(*one, std::move(a));
  packs_.push_back(std::move(a));
}

// The node of this rank, before it is known what it reads or writes.
scatter_gather_node& task_graph::make_scatter_gather(int root, bool gathers) {
  auto& node = make<scatter_gather_node>(*this, ++scatters_gathers_, root, gathers);
  const int awaited = node.awaits();
  node.waits.fetch_add(awaited, std::memory_order_relaxed);
  if (awaited != 0) scatters_gathers_under_way_.push_back(&node);
  return node;
}

void task_graph::begin_scatter_gather(scatter_gather_node& node) {
  for (auto a = packs_.begin(); a != packs_.end();) {
    if ((*a)->what.sequence != node.number()) {
      ++a;
      continue;
    }
    std::unique_ptr<arrival> one = std::move(*a);
    a = packs_.erase(a);
    give_pack(node, std::move(one));
  }
  release(node);
}

void task_graph::give_pack(scatter_gather_node& node, std::unique_ptr<arrival> a) {
  if (node.came(std::move(a)) == node.awaits()) std::erase(scatters_gathers_under_way_, &node);
  release(node);
}

bool task_graph::packs(const data_handle& d) const noexcept {
  return size_ >= min_ranks && d.bytes <= max_packed;
}

void task_graph::scatter(data_handle* const* data, std::size_t n, int root) {
  refuse_from_kernels("scatter");
  check_rank("scatter", "root", root);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] != nullptr) check_own("scatter", *data[i]);
  for (std::size_t i = 0; i < n; ++i)
    if (rank_ == root && data[i] != nullptr && data[i]->owner != root && !data[i]->readable &&
        data[i]->home != rank_)
      refuse("scatter", "handles", "contain " + name_of(*data[i]) + ", of which the root has no copy",
             "register its memory on the root");
  scatter_gather_node* const node = size_ >= min_ranks ? &make_scatter_gather(root, false) : nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) continue;
    data_handle& d = *data[i];
    close_reduction(d);
    make_owner(d, root);
    if (d.owner == root) continue;
    if (!packs(d)) {
      transfer_to(d, d.owner);
    } else if (rank_ == root) {
      node->add(static_cast<std::uint32_t>(i), d.owner, d.bytes, read_by(d, *node));
    } else if (rank_ == d.owner) {
      written_by_scatter_gather(d, *node, static_cast<std::uint32_t>(i));
    }
    move_ownership(d, true);
  }
  free_evicted(nullptr);
  if (node != nullptr) begin_scatter_gather(*node);
}

void task_graph::gather(data_handle* const* data, std::size_t n, int root) {
  refuse_from_kernels("gather");
  check_rank("gather", "root", root);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] != nullptr) check_own("gather", *data[i]);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] == nullptr && rank_ == root)
      refuse("gather", "handles", "contain an empty handle at the root",
             "create all data handles on the root");
  scatter_gather_node* const node = size_ >= min_ranks ? &make_scatter_gather(root, true) : nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) continue;
    data_handle& d = *data[i];
    settle(d, false);
    if (d.home == root) continue;
    if (!packs(d)) {
      transfer_to(d, root);
    } else if (rank_ == d.home) {
      node->add(static_cast<std::uint32_t>(i), d.home, d.bytes, read_by(d, *node));
    } else if (rank_ == root) {
      written_by_scatter_gather(d, *node, static_cast<std::uint32_t>(i));
    }
  }
  if (node != nullptr) begin_scatter_gather(*node);
}

// Contents that come with a pack.
void task_graph::written_by_scatter_gather(data_handle& d, scatter_gather_node& node, std::uint32_t index) {
  if (!d.fixed) {
    if (d.here != nullptr) d.here->drop();
    d.here = new contents;
    d.here->substitute_buffers(block::make(d.bytes));
    d.writer = node_ref(&node);
    d.readers.clear();
    d.sending = {};
  } else {
    contents* before = nullptr;
    written_by(d, node, true, before);
  }
  d.readable = true;
  node.add(index, d.owner, d.bytes, *d.here);
}

}  // namespace tutti::tasks
