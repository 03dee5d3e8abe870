// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/scatter_gather.hpp"

#include <cstring>
#include <utility>

namespace tutti::tasks {
namespace {

constexpr std::size_t max_packed = 1024;  // bytes of one data handle
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

binomial_tree::binomial_tree(int rank, int size, int root) noexcept
    : size_(size), root_(root), relative_((rank - root + size) % size), step_(1) {
  const int lowest = relative_ == 0 ? size : relative_ & -relative_;
  while (step_ < lowest) step_ *= 2;
}

// --- the node

scatter_gather_node::scatter_gather_node(pack_table& table, const transfer_services& services,
                                         std::uint32_t id, int root, bool is_gather)
    : node(false),
      table_(table),
      services_(services),
      tree_(services.rank, services.size, root),
      id_(id),
      is_gather_(is_gather) {}

void scatter_gather_node::release_resources() noexcept {
  for (const item& p : items_) p.at->release();
}

void scatter_gather_node::add(std::uint32_t index, int owner, std::size_t bytes, contents& at) {
  at.retain();
  items_.push_back({index, owner, bytes, &at});
}

void scatter_gather_node::pack_items() {
  for (const item& p : items_) {
    const failure* const f = p.at->poisoned;
    const std::string why = f != nullptr ? text_of(*f) : std::string();
    const entry e{p.index, f != nullptr ? 1u : 0u, p.owner, 0, f != nullptr ? why.size() : p.bytes};
    append(pack_, reinterpret_cast<const std::byte*>(&e), sizeof e);
    append(pack_, f != nullptr ? reinterpret_cast<const std::byte*>(why.data()) : p.at->data, e.bytes);
    pack_.resize(pack_.size() + padded(e.bytes) - e.bytes);
  }
}

void scatter_gather_node::unpack_items(const arrival& a) {
  for_entries(a.memory->data(), a.header.bytes, [&](const entry& e, const std::byte* at) {
    for (const item& p : items_) {
      if (p.index != e.index) continue;
      if (e.poisoned != 0) {
        p.at->poisoned =
            services_.failures.add_received(reinterpret_cast<const char*>(at + sizeof e), e.bytes);
      } else {
        std::memcpy(p.at->data, at + sizeof e, p.bytes < e.bytes ? p.bytes : e.bytes);
        p.at->poisoned = nullptr;
      }
    }
  });
}

void scatter_gather_node::start(ready_queue& queue) {
  const bool at_root = tree_.at_root();
  if (is_gather_ ? !at_root : at_root) pack_items();
  if (is_gather_ && !at_root)
    for (const auto& a : arrivals_) append(pack_, a->memory->data(), a->header.bytes);
  if (is_gather_ ? at_root : !at_root)
    for (const auto& a : arrivals_) unpack_items(*a);
  if (is_gather_ && !at_root) table_.send(tree_.parent(), id_, tree_.root(), pack_);
  if (!is_gather_ && at_root) table_.send_to_children(tree_, id_, pack_.data(), pack_.size());
  queue.complete(*this);
}

// --- the table

void pack_table::send_to_children(const binomial_tree& tree, std::uint32_t id, const std::byte* at,
                                  std::size_t bytes) {
  tree.for_children([&](int child, int first, int last) {
    std::vector<std::byte> part;
    for_entries(at, bytes, [&](const entry& e, const std::byte* from) {
      const int relative = tree.relative_of(e.owner);
      if (relative >= first && relative < last) append(part, from, sizeof e + padded(e.bytes));
    });
    send(child, id, tree.root(), part);
  });
}

void pack_table::send(int to, std::uint32_t id, int root, const std::vector<std::byte>& pack) {
  message_header header;
  header.kind = message_kind::pack;
  header.sequence = id;
  header.origin = root;
  std::size_t bytes = 0;
  for_entries(pack.data(), pack.size(), [&](const entry& e, const std::byte*) { bytes += e.bytes; });
  if (bytes != 0) services_.sender.count(to, bytes);
  // The messenger retains a long block until it is sent.
  block* const copy = block::make(pack.size());
  if (!pack.empty()) std::memcpy(copy->data(), pack.data(), pack.size());
  services_.messages().send(to, header, copy->data(), pack.size(), {}, nullptr, copy);
  copy->release();
}

// A pack from the parent also has data for the ranks below, even if this rank has not inserted the
// call yet.
void pack_table::handle(std::unique_ptr<arrival> a) {
  const binomial_tree tree(services_.rank, services_.size, a->header.origin);
  if (a->from == tree.parent() && !tree.at_root())
    send_to_children(tree, a->header.sequence, a->memory->data(), a->header.bytes);
  for (scatter_gather_node* const one : waiting_)
    if (one->id() == a->header.sequence) return deliver(*one, std::move(a));
  unexpected_.push_back(std::move(a));
}

bool pack_table::is_packed(std::size_t bytes) const noexcept {
  return services_.size >= min_ranks && bytes <= max_packed;
}

scatter_gather_node* pack_table::make(int root, bool is_gather) {
  if (services_.size < min_ranks) return nullptr;
  auto& node = services_.ready.make<scatter_gather_node>(*this, services_, ++calls_, root, is_gather);
  const int expected = node.expected_packs();
  node.pending_dependencies.fetch_add(expected, std::memory_order_relaxed);
  if (expected != 0) waiting_.push_back(&node);
  return &node;
}

void pack_table::begin(scatter_gather_node* node) {
  if (node == nullptr) return;
  for (auto a = unexpected_.begin(); a != unexpected_.end();) {
    if ((*a)->header.sequence != node->id()) {
      ++a;
      continue;
    }
    std::unique_ptr<arrival> one = std::move(*a);
    a = unexpected_.erase(a);
    deliver(*node, std::move(one));
  }
  services_.ready.release(*node);
}

void pack_table::deliver(scatter_gather_node& node, std::unique_ptr<arrival> a) {
  if (node.arrived(std::move(a)) == node.expected_packs()) std::erase(waiting_, &node);
  services_.ready.release(node);
}

}  // namespace tutti::tasks
