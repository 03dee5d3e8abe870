// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/reductions.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "frontends/tasks/kernel_node.hpp"
#include "tutti/error.hpp"

namespace tutti::tasks {

// --- insertion

void reductions::begin(data_handle& d, const reducer& by) {
  if (d.open != nullptr && !(d.open->by == by)) close(d);
  if (!d.partials.empty() && !d.partials.back()->closed && !(d.partials.back()->by == by)) close(d);
  if (d.home != with_.rank) return replicas_.invalidate(d);
  if (d.open == nullptr) {
    d.open = std::make_unique<collection>(by);
    open_.push_back(&d);
  }
  replicas_.forget_remote(d);
}

void reductions::contribute(data_handle& d, const reducer& by, int on, node* task, contents* part) {
  if (d.home == with_.rank && on != with_.rank) {
    auto& others = d.open->others;
    auto one = std::find_if(others.begin(), others.end(), [&](const forwarding& o) { return o.rank == on; });
    if (one == others.end()) one = others.insert(others.end(), {on, d.with(on).requested++, 0});
    ++one->count;
  }
  if (on != with_.rank) return;
  if (d.home == with_.rank) return add(d.open->local, d, *task, *part);
  if (d.partials.empty() || d.partials.back()->closed) {
    d.partials.push_back(std::make_unique<partial>(by, d.home, d.with(d.home).answered++));
    open_.push_back(&d);
  }
  add(*d.partials.back(), d, *task, *part);
  if (!d.demands.empty()) meet_demands(d);
}

void reductions::add(partial& p, const data_handle& d, node& task, contents& part) {
  ++p.count;
  if (p.sum == nullptr) {
    part.keep();
    p.sum = &part;
    p.last = node_ref(&task);
    return;
  }
  auto& both = with_.ready.make<combine_node>(*p.sum, part, p.by, d.form.count);
  both.wait_for(task);
  if (node* const before = p.last.get()) both.wait_for(*before);
  p.last = node_ref(&both);
  with_.ready.release(both);
}

void reductions::close_open(data_handle& d) {
  if (!d.partials.empty() && !d.partials.back()->closed) {
    d.partials.back()->closed = true;
    std::erase(open_, &d);
    if (!d.demands.empty()) meet_demands(d);
  }
  if (d.open != nullptr) close_collection(d);
}

void reductions::close_collection(data_handle& d) {
  const std::unique_ptr<collection> all = std::move(d.open);
  std::erase(open_, &d);
  contents* before = nullptr;
  if (d.here == nullptr) replicas_.make_contents(d, true);
  const bool anew = !d.fixed;  // the owner has just become the home; nodes may still read `here`
  if (anew) {
    before = d.here;
    before->keep();
    replicas_.replace_here(d).use_block(block::make(d.bytes));
    d.fixed = true;
  }
  auto& node = with_.ready.make<gather_node>(with_, d, *d.here, all->local.sum, all->by, before);
  if (!anew) {
    replicas_.wait_for_users(d, node);
  } else if (tasks::node* const maker = d.writer.get()) {
    node.wait_for(*maker);
  }
  replicas_.set_writer(d, node);
  if (tasks::node* const last = all->local.last.get()) node.wait_for(*last);
  collect(d, with_.rank, all->others, node);
  with_.ready.release(node);
}

void reductions::end() {
  ended_ = true;
  for (const auto& d : data_)
    if (!d->demands.empty()) meet_demands(*d);
}

// --- collection

// Sends requests to some ranks. Each of them collects from the ranks that its request names.
void reductions::collect(const data_handle& d, int home, const std::vector<forwarding>& from,
                         gather_node& into) {
  if (from.empty()) return;
  const std::uint32_t token = ++last_token_;
  request& mine = requests_[token];
  mine = {&into, 0};
  const forwarding* at = from.data();
  for (std::size_t n = from.size(); n > 0;) {
    const std::size_t whole = n <= 2 ? 1 : (n + 1) / 2;
    head what;
    what.kind = message_kind::collect;
    what.id = d.id;
    what.sequence = at->sequence;
    what.token = token;
    what.origin = home;
    what.count = at->count;
    with_.messages().send(at->rank, what, nullptr, 0, {at + 1, whole - 1});
    ++mine.left;
    into.waits.fetch_add(1, std::memory_order_relaxed);
    at += whole;
    n -= whole;
  }
}

void reductions::handle_collect(std::unique_ptr<arrival> a) {
  data_handle* const d = data_.find(a->what.id);
  if (d == nullptr) return data_.keep(std::move(a));
  d->demands.push_back(
      {a->from, a->what.origin, a->what.token, a->what.sequence, a->what.count, std::move(a->further)});
  meet_demands(*d);
}

void reductions::meet_demands(data_handle& d) {
  for (std::size_t i = 0; i < d.demands.size();)
    if (meet(d, d.demands[i]))
      d.demands.erase(d.demands.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
}

// A part is whole if it is closed, or if it has as many contributions as the home knows of.
bool reductions::meet(data_handle& d, const demand& wanted) {
  const auto at = std::find_if(d.partials.begin(), d.partials.end(), [&](const auto& p) {
    return p->home == wanted.home && p->index == wanted.index;
  });
  if (at == d.partials.end()) {
    if (!ended_) return false;
    head never;
    never.kind = message_kind::never;
    never.id = d.id;
    never.token = wanted.token;
    with_.messages().send(wanted.from, never, nullptr, 0);
    return true;
  }
  if ((*at)->count < wanted.count && !(*at)->closed) return false;
  const std::unique_ptr<partial> part = std::move(*at);
  d.partials.erase(at);
  answer(d, wanted, *part);
  return true;
}

void reductions::answer(data_handle& d, const demand& wanted, partial& part) {
  if (!part.closed) std::erase(open_, &d);
  if (part.count != wanted.count)
    with_.failures.note_error(std::make_exception_ptr(mismatch_error(
        "tasks", with_.rank, "reduce",
        "this rank has contributed " + std::to_string(part.count) + " times to " + name_of(d) +
            ", but rank " + std::to_string(wanted.from) + " knows of " + std::to_string(wanted.count),
        "insert the task that ends the reduction on all ranks that have contributed")));
  auto& node = with_.ready.make<gather_node>(with_, d, *part.sum, nullptr, part.by, nullptr);
  node.answer_to(wanted.from, wanted.token);
  if (tasks::node* const last = part.last.get()) node.wait_for(*last);
  collect(d, wanted.home, wanted.further, node);
  with_.ready.release(node);
}

gather_node* reductions::take_answer(std::uint32_t token) {
  const auto at = requests_.find(token);
  if (at == requests_.end()) return nullptr;
  gather_node* const node = at->second.node;
  if (--at->second.left == 0) requests_.erase(at);
  return node;
}

void reductions::handle_contribution(std::unique_ptr<arrival> a) {
  gather_node* const node = take_answer(a->what.sequence);
  if (node == nullptr) return;
  node->arrived(std::move(a));
  with_.ready.release(*node);
}

bool reductions::give_up(std::uint32_t token, int rank) {
  gather_node* const node = take_answer(token);
  if (node == nullptr) return false;
  node->give_up(with_.failures.add_lost("a contribution", rank, "it was never inserted"));
  with_.ready.release(*node);
  return true;
}

// --- the node

gather_node::gather_node(const transfer_services& with, const data_handle& d, contents& into, contents* local,
                         const reducer& by, contents* before)
    : node(false),
      with_(with),
      into_(into),
      local_(local),
      before_(before),
      by_(by),
      count_(d.form.count),
      bytes_(d.bytes),
      id_(d.id) {
  into.keep();
  if (local != nullptr) local->keep();
}

void gather_node::combine() {
  if (before_ != nullptr) {
    if (bytes_ != 0) std::memcpy(into_.data, before_->data, bytes_);
    into_.poisoned = before_->poisoned;
  }
  const auto add = [&](const void* part, const failure* poisoned) {
    if (into_.poisoned == nullptr) into_.poisoned = poisoned;
    if (into_.poisoned == nullptr) by_.combine(into_.data, part, into_.data, count_, nullptr);
  };
  if (into_.poisoned == nullptr) into_.poisoned = lost_;
  if (local_ != nullptr) add(local_->data, local_->poisoned);
  // In the order of ranks: sums of floating-point numbers are the same in every run.
  std::sort(answers_.begin(), answers_.end(), [](const auto& a, const auto& b) { return a->from < b->from; });
  for (const auto& a : answers_) {
    const void* const part = a->in->data();
    add(part, a->what.poisoned != 0
                  ? with_.failures.add_received(static_cast<const char*>(part), a->what.bytes)
                  : nullptr);
  }
}

void gather_node::go(ready_queue& by) {
  combine();
  if (to_ < 0) return by.complete(*this);
  head what;
  what.kind = message_kind::contribution;
  what.origin = with_.rank;
  what.id = id_;
  what.sequence = token_;
  if (into_.poisoned != nullptr) {
    with_.sender.send_failure(to_, what, *into_.poisoned);
    return by.complete(*this);
  }
  with_.sender.count(to_, bytes_);
  if (with_.messages().send(to_, what, into_.data, bytes_, {}, this, into_.in)) by.complete(*this);
}

void gather_node::let_go() noexcept {
  into_.drop();
  if (local_ != nullptr) local_->drop();
  if (before_ != nullptr) before_->drop();
}

}  // namespace tutti::tasks
