// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/task_reductions.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "frontends/tasks/kernel_node.hpp"
#include "tutti/error.hpp"

namespace tutti::tasks {

// --- insertion

void reductions::begin(data_handle& d, const reducer& op) {
  if (d.open_reduction != nullptr && !(d.open_reduction->op == op)) close(d);
  if (!d.partials.empty() && !d.partials.back()->closed && !(d.partials.back()->op == op)) close(d);
  if (d.home != services_.rank) return replicas_.invalidate(d);
  if (d.open_reduction == nullptr) {
    d.open_reduction = std::make_unique<collection>(op);
    open_.push_back(&d);
  }
  replicas_.drop_remote_replicas(d);
}

void reductions::contribute(data_handle& d, const reducer& op, int on, node* task, contents* part) {
  if (d.home == services_.rank && on != services_.rank) {
    auto& contributors = d.open_reduction->contributors;
    auto one = std::find_if(contributors.begin(), contributors.end(),
                            [&](const forwarding& o) { return o.rank == on; });
    if (one == contributors.end())
      one = contributors.insert(contributors.end(), {on, d.peer(on).requested++, 0});
    ++one->count;
  }
  if (on != services_.rank) return;
  if (d.home == services_.rank) return add(d.open_reduction->local, d, *task, *part);
  if (d.partials.empty() || d.partials.back()->closed) {
    d.partials.push_back(std::make_unique<partial>(op, d.home, d.peer(d.home).supplied++));
    open_.push_back(&d);
  }
  add(*d.partials.back(), d, *task, *part);
  if (!d.collect_requests.empty()) answer_requests(d);
}

void reductions::add(partial& p, const data_handle& d, node& task, contents& part) {
  ++p.count;
  if (p.sum == nullptr) {
    part.retain();
    p.sum = &part;
    p.last = node_ref(&task);
    return;
  }
  auto& combined = services_.ready.make<combine_node>(*p.sum, part, p.op, d.spec.count);
  combined.wait_for(task);
  if (node* const before = p.last.get()) combined.wait_for(*before);
  p.last = node_ref(&combined);
  services_.ready.release(combined);
}

void reductions::close_open(data_handle& d) {
  if (!d.partials.empty() && !d.partials.back()->closed) {
    d.partials.back()->closed = true;
    std::erase(open_, &d);
    if (!d.collect_requests.empty()) answer_requests(d);
  }
  if (d.open_reduction != nullptr) close_collection(d);
}

void reductions::close_collection(data_handle& d) {
  const std::unique_ptr<collection> all = std::move(d.open_reduction);
  std::erase(open_, &d);
  contents* before = nullptr;
  if (d.local_version == nullptr) replicas_.make_contents(d, true);
  // If the owner has just become the home, nodes may still read `local_version`.
  const bool new_version = !d.in_place;
  if (new_version) {
    before = d.local_version;
    before->retain();
    replicas_.replace_local(d).use_block(block::make(d.bytes));
    d.in_place = true;
  }
  auto& node =
      services_.ready.make<reduction_node>(services_, d, *d.local_version, all->local.sum, all->op, before);
  if (!new_version) {
    replicas_.wait_for_users(d, node);
  } else if (tasks::node* const old_writer = d.writer.get()) {
    node.wait_for(*old_writer);
  }
  replicas_.set_writer(d, node);
  if (tasks::node* const last = all->local.last.get()) node.wait_for(*last);
  collect(d, services_.rank, all->contributors, node);
  services_.ready.release(node);
}

void reductions::end() {
  ended_ = true;
  for (const auto& d : data_)
    if (!d->collect_requests.empty()) answer_requests(*d);
}

// --- collection

// Sends requests to some ranks. Each of them collects from the ranks that its request names.
void reductions::collect(const data_handle& d, int home, const std::vector<forwarding>& from,
                         reduction_node& into) {
  if (from.empty()) return;
  const std::uint32_t token = ++last_token_;
  request& mine = requests_[token];
  mine = {&into, 0};
  const forwarding* at = from.data();
  for (std::size_t n = from.size(); n > 0;) {
    const std::size_t subtree = n <= 2 ? 1 : (n + 1) / 2;
    message_header header;
    header.kind = message_kind::collect;
    header.id = d.id;
    header.sequence = at->sequence;
    header.token = token;
    header.origin = home;
    header.count = at->count;
    services_.messages().send(at->rank, header, nullptr, 0, {at + 1, subtree - 1});
    ++mine.remaining;
    into.pending_dependencies.fetch_add(1, std::memory_order_relaxed);
    at += subtree;
    n -= subtree;
  }
}

void reductions::handle_collect(std::unique_ptr<arrival> a) {
  data_handle* const d = data_.find(a->header.id);
  if (d == nullptr) return data_.store_unmatched(std::move(a));
  const message_header& h = a->header;
  d->collect_requests.push_back({a->from, h.origin, h.token, h.sequence, h.count, std::move(a->forward_to)});
  answer_requests(*d);
}

void reductions::answer_requests(data_handle& d) {
  for (std::size_t i = 0; i < d.collect_requests.size();)
    if (try_reply(d, d.collect_requests[i]))
      d.collect_requests.erase(d.collect_requests.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
}

// A part is complete if it is closed, or if it has as many contributions as the home knows of.
bool reductions::try_reply(data_handle& d, const collect_request& requested) {
  const auto at = std::find_if(d.partials.begin(), d.partials.end(), [&](const auto& p) {
    return p->home == requested.home && p->index == requested.index;
  });
  if (at == d.partials.end()) {
    if (!ended_) return false;
    message_header never;
    never.kind = message_kind::never_sent;
    never.id = d.id;
    never.token = requested.token;
    services_.messages().send(requested.from, never, nullptr, 0);
    return true;
  }
  if ((*at)->count < requested.count && !(*at)->closed) return false;
  const std::unique_ptr<partial> part = std::move(*at);
  d.partials.erase(at);
  reply(d, requested, *part);
  return true;
}

void reductions::reply(data_handle& d, const collect_request& requested, partial& part) {
  if (!part.closed) std::erase(open_, &d);
  if (part.count != requested.count)
    services_.failures.record_error(std::make_exception_ptr(mismatch_error(
        "tasks", services_.rank, "reduce",
        "this rank has contributed " + std::to_string(part.count) + " times to " + name_of(d) +
            ", but rank " + std::to_string(requested.from) + " knows of " + std::to_string(requested.count),
        "insert the task that ends the reduction on all ranks that have contributed")));
  auto& node = services_.ready.make<reduction_node>(services_, d, *part.sum, nullptr, part.op, nullptr);
  node.set_requester(requested.from, requested.token);
  if (tasks::node* const last = part.last.get()) node.wait_for(*last);
  collect(d, requested.home, requested.forward_to, node);
  services_.ready.release(node);
}

reduction_node* reductions::match_reply(std::uint32_t token) {
  const auto at = requests_.find(token);
  if (at == requests_.end()) return nullptr;
  reduction_node* const node = at->second.node;
  if (--at->second.remaining == 0) requests_.erase(at);
  return node;
}

void reductions::handle_contribution(std::unique_ptr<arrival> a) {
  reduction_node* const node = match_reply(a->header.sequence);
  if (node == nullptr) return;
  node->arrived(std::move(a));
  services_.ready.release(*node);
}

bool reductions::give_up(std::uint32_t token, int rank) {
  reduction_node* const node = match_reply(token);
  if (node == nullptr) return false;
  node->give_up(services_.failures.add_lost("a contribution", rank, "it was never inserted"));
  services_.ready.release(*node);
  return true;
}

// --- the node

reduction_node::reduction_node(const transfer_services& services, const data_handle& d, contents& into,
                               contents* local, const reducer& op, contents* before)
    : node(false),
      services_(services),
      into_(into),
      local_(local),
      initial_(before),
      op_(op),
      count_(d.spec.count),
      bytes_(d.bytes),
      id_(d.id) {
  into.retain();
  if (local != nullptr) local->retain();
}

void reduction_node::combine() {
  if (initial_ != nullptr) {
    if (bytes_ != 0) std::memcpy(into_.data, initial_->data, bytes_);
    into_.poisoned = initial_->poisoned;
  }
  const auto add = [&](const void* part, const failure* poisoned) {
    if (into_.poisoned == nullptr) into_.poisoned = poisoned;
    if (into_.poisoned == nullptr) op_.combine(into_.data, part, into_.data, count_, nullptr);
  };
  if (into_.poisoned == nullptr) into_.poisoned = lost_;
  if (local_ != nullptr) add(local_->data, local_->poisoned);
  // In the order of ranks, so that sums of floating-point numbers are the same in every run.
  std::sort(replies_.begin(), replies_.end(), [](const auto& a, const auto& b) { return a->from < b->from; });
  for (const auto& a : replies_) {
    const void* const part = a->memory->data();
    add(part, a->header.poisoned != 0
                  ? services_.failures.add_received(static_cast<const char*>(part), a->header.bytes)
                  : nullptr);
  }
}

void reduction_node::start(ready_queue& queue) {
  combine();
  if (requester_ < 0) return queue.complete(*this);
  message_header header;
  header.kind = message_kind::contribution;
  header.origin = services_.rank;
  header.id = id_;
  header.sequence = token_;
  if (into_.poisoned != nullptr) {
    services_.sender.send_failure(requester_, header, *into_.poisoned);
    return queue.complete(*this);
  }
  services_.sender.count(requester_, bytes_);
  if (services_.messages().send(requester_, header, into_.data, bytes_, {}, this, into_.memory))
    queue.complete(*this);
}

void reduction_node::release_resources() noexcept {
  into_.release();
  if (local_ != nullptr) local_->release();
  if (initial_ != nullptr) initial_->release();
}

}  // namespace tutti::tasks
