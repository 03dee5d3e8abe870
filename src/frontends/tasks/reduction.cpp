// SPDX-License-Identifier: Apache-2.0
//
// Reductions. What the tasks of a rank contribute is combined there; the rank where the datum is at home
// knows who has contributed how often, and before the datum is used otherwise it asks them by a tree, up
// which the parts come.
#include <algorithm>
#include <cstring>
#include <string>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {

void task_graph::begin_reduction(data_handle& d, const reducer& by) {
  if (d.home != d.owner) settle(d, false);
  if (d.open != nullptr && !(d.open->by == by)) close_reduction(d);
  if (!d.partials.empty() && !d.partials.back()->closed && !(d.partials.back()->by == by)) close_reduction(d);
  if (d.home != rank_) return invalidate(d);
  if (d.open == nullptr) {
    d.open = std::make_unique<collection>(by);
    reduced_.push_back(&d);
  }
  forget_copies_of_others(d);
}

// After the task is made, on every rank that is concerned.
void task_graph::contribute(data_handle& d, const reducer& by, int on, node* task, contents* part) {
  if (d.home == rank_ && on != rank_) {
    auto& others = d.open->others;
    auto one = std::find_if(others.begin(), others.end(), [&](const forwarding& o) { return o.rank == on; });
    if (one == others.end()) one = others.insert(others.end(), {on, d.with(on).explicit_transfer++, 0});
    ++one->count;
  }
  if (on != rank_) return;
  if (d.home == rank_) return add_to(d.open->own, d, *task, *part);
  if (d.partials.empty() || d.partials.back()->closed) {
    d.partials.push_back(std::make_unique<partial>(by, d.home, d.with(d.home).answered++));
    reduced_.push_back(&d);
  }
  add_to(*d.partials.back(), d, *task, *part);
  if (!d.demands.empty()) meet_demands(d);
}

void task_graph::add_to(partial& p, const data_handle& d, node& task, contents& part) {
  ++p.count;
  if (p.sum == nullptr) {
    part.keep();
    p.sum = &part;
    p.last = node_ref(&task);
    return;
  }
  auto& both = make<combine_node>(*p.sum, part, p.by, d.form.count);
  both.wait_for(task);
  if (node* const before = p.last.get()) both.wait_for(*before);
  p.last = node_ref(&both);
  release(both);
}

void task_graph::close_reduction(data_handle& d) {
  if (!d.partials.empty() && !d.partials.back()->closed) {
    d.partials.back()->closed = true;
    std::erase(reduced_, &d);
    if (!d.demands.empty()) meet_demands(d);
  }
  if (d.open == nullptr) return;
  const std::unique_ptr<collection> all = std::move(d.open);
  std::erase(reduced_, &d);
  contents* before = nullptr;
  if (d.here == nullptr) new_contents(d, true);
  const bool anew = !d.fixed;  // an owner that has just become that, whose contents others may still read
  if (anew) {
    contents& old = *d.here;
    old.keep();
    contents* const fresh = new contents;
    fresh->substitute_buffers(block::make(d.bytes));
    before = &old;
    d.here->drop();
    d.here = fresh;
    d.fixed = true;
  }
  auto& node = make<gather_node>(*this, d, *d.here, all->own.sum, all->by, before);
  if (anew) {
    if (tasks::node* const maker = d.writer.get()) node.wait_for(*maker);
    d.writer = node_ref(&node);
    d.readers.clear();
    d.sending = {};
  } else {
    written_by(d, node, true, before);
  }
  if (tasks::node* const last = all->own.last.get()) node.wait_for(*last);
  ask(d, rank_, all->others, node);
  release(node);
}

void task_graph::close_all_reductions() {
  while (!reduced_.empty()) close_reduction(*reduced_.back());
}

// Who is asked asks the others that are named behind.
void task_graph::ask(data_handle& d, int home, const std::vector<forwarding>& whom, gather_node& asks) {
  if (whom.empty()) return;
  const std::uint32_t token = ++last_token_;
  explicit_requests& mine = explicit_requests_[token];
  mine = {&asks, 0};
  const forwarding* at = whom.data();
  for (std::size_t n = whom.size(); n > 0;) {
    const std::size_t whole = n <= 2 ? 1 : (n + 1) / 2;
    head what;
    what.kind = message_kind::collect;
    what.number = d.number;
    what.sequence = at->sequence;
    what.token = token;
    what.origin = home;
    what.count = at->count;
    messenger_.give(at->rank, what, nullptr, 0, {at + 1, whole - 1});
    ++mine.left;
    asks.waits.fetch_add(1, std::memory_order_relaxed);
    at += whole;
    n -= whole;
  }
}

void task_graph::handle_collect(std::unique_ptr<arrival> a) {
  data_handle* const d = find(a->what.number);
  if (d == nullptr) {
    no_rank_.push_back(std::move(a));
    return;
  }
  d->demands.push_back(
      {a->from, a->what.origin, a->what.token, a->what.sequence, a->what.count, std::move(a->further)});
  meet_demands(*d);
}

// A part is whole when it is closed, or when as much was contributed as the datum's home knows of.
void task_graph::meet_demands(data_handle& d) {
  for (std::size_t i = 0; i < d.demands.size();) {
    const demand& wanted = d.demands[i];
    const auto at = std::find_if(d.partials.begin(), d.partials.end(), [&](const auto& p) {
      return p->home == wanted.home && p->index == wanted.index;
    });
    if (at == d.partials.end() && closing_) {
      head never;
      never.kind = message_kind::never;
      never.number = d.number;
      never.token = wanted.token;
      messenger_.give(wanted.from, never, nullptr, 0);
      d.demands.erase(d.demands.begin() + static_cast<std::ptrdiff_t>(i));
      continue;
    }
    if (at == d.partials.end() || ((*at)->count < wanted.count && !(*at)->closed)) {
      ++i;
      continue;
    }
    const std::unique_ptr<partial> p = std::move(*at);
    d.partials.erase(at);
    if (!p->closed) std::erase(reduced_, &d);
    if (p->count != wanted.count)
      note_error(std::make_exception_ptr(mismatch_error(
          "tasks", rank_, "reduce",
          "this rank has contributed " + std::to_string(p->count) + " times to " + name_of(d) +
              ", but rank " + std::to_string(wanted.from) + " knows of " + std::to_string(wanted.count),
          "insert the task that ends the reduction on all ranks that have contributed")));
    auto& node = make<gather_node>(*this, d, *p->sum, nullptr, p->by, nullptr);
    node.answer_to(wanted.from, wanted.token);
    if (tasks::node* const last = p->last.get()) node.wait_for(*last);
    ask(d, wanted.home, wanted.further, node);
    d.demands.erase(d.demands.begin() + static_cast<std::ptrdiff_t>(i));
    release(node);
  }
}

void task_graph::handle_contribution(std::unique_ptr<arrival> a) {
  const auto at = explicit_requests_.find(a->what.sequence);
  if (at == explicit_requests_.end()) return;
  gather_node& node = *at->second.node;
  if (--at->second.left == 0) explicit_requests_.erase(at);
  node.came(std::move(a));
  release(node);
}

gather_node::gather_node(task_graph& in, data_handle& d, contents& into, contents* own, const reducer& by,
                         contents* before)
    : node(false),
      in_(in),
      into_(into),
      own_(own),
      before_(before),
      by_(by),
      count_(d.form.count),
      bytes_(d.bytes),
      number_(d.number) {
  into.keep();
  if (own != nullptr) own->keep();
}

void gather_node::go(task_graph& in) {
  if (before_ != nullptr) {
    if (bytes_ != 0) std::memcpy(into_.data, before_->data, bytes_);
    into_.poisoned = before_->poisoned;
  }
  const auto add = [&](const void* part, const failure* poisoned) {
    if (into_.poisoned == nullptr) into_.poisoned = poisoned;
    if (into_.poisoned == nullptr) by_.combine(into_.data, part, into_.data, count_, nullptr);
  };
  if (into_.poisoned == nullptr) into_.poisoned = lost_;
  if (own_ != nullptr) add(own_->data, own_->poisoned);
  // In the order of ranks: sums of floating point numbers are the same in every run.
  std::sort(answers_.begin(), answers_.end(), [](const auto& a, const auto& b) { return a->from < b->from; });
  for (const auto& a : answers_) add(a->in->data(), a->what.poisoned != 0 ? in.failure_in(*a) : nullptr);
  if (to_ < 0) return in.complete(*this);
  head what;
  what.kind = message_kind::contribution;
  what.origin = in.rank();
  what.number = number_;
  what.sequence = token_;
  if (into_.poisoned != nullptr) {
    in.report_poisoned(to_, what, *into_.poisoned);
    return in.complete(*this);
  }
  in.count_sent(to_, bytes_);
  if (in.messages().give(to_, what, into_.data, bytes_, {}, this, into_.in)) in.complete(*this);
}

void gather_node::sent() { in_.complete(*this); }

void gather_node::let_go() noexcept {
  into_.drop();
  if (own_ != nullptr) own_->drop();
  if (before_ != nullptr) before_->drop();
}

}  // namespace tutti::tasks
