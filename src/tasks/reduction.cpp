// SPDX-License-Identifier: Apache-2.0
//
// Reductions. What the tasks of a rank contribute is combined there; the rank where the datum is at home
// knows who has contributed how often, and before the datum is used otherwise it asks them by a tree, up
// which the parts come.
#include <algorithm>
#include <cstring>
#include <string>

#include "tasks/flow.hpp"
#include "tasks/nodes.hpp"

namespace tutti::tasks {

void flow::begin_reduction(datum& d, const reducer& by) {
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
void flow::contribute(datum& d, const reducer& by, int on, node* task, contents* part) {
  if (d.home == rank_ && on != rank_) {
    auto& others = d.open->others;
    auto one = std::find_if(others.begin(), others.end(), [&](const onward& o) { return o.rank == on; });
    if (one == others.end()) one = others.insert(others.end(), {on, d.with(on).asked++, 0});
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

void flow::add_to(partial& p, const datum& d, node& task, contents& part) {
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

void flow::close_reduction(datum& d) {
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
    fresh->stand_in(block::make(d.bytes));
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

void flow::close_all_reductions() {
  while (!reduced_.empty()) close_reduction(*reduced_.back());
}

// Who is asked asks the others that are named behind.
void flow::ask(datum& d, int home, const std::vector<onward>& whom, gather_node& asks) {
  if (whom.empty()) return;
  const std::uint32_t token = ++last_token_;
  asking& mine = asking_[token];
  mine = {&asks, 0};
  const onward* at = whom.data();
  for (std::size_t n = whom.size(); n > 0;) {
    const std::size_t whole = n <= 2 ? 1 : (n + 1) / 2;
    head what;
    what.kind = message_kind::collect;
    what.number = d.number;
    what.sequence = at->sequence;
    what.token = token;
    what.origin = home;
    what.count = at->count;
    post_.give(at->rank, what, nullptr, 0, {at + 1, whole - 1});
    ++mine.left;
    asks.waits.fetch_add(1, std::memory_order_relaxed);
    at += whole;
    n -= whole;
  }
}

void flow::handle_collect(std::unique_ptr<arrival> a) {
  datum* const d = find(a->what.number);
  if (d == nullptr) {
    nobodys_.push_back(std::move(a));
    return;
  }
  d->demands.push_back(
      {a->from, a->what.origin, a->what.token, a->what.sequence, a->what.count, std::move(a->further)});
  meet_demands(*d);
}

// A part is whole when it is closed, or when as much was contributed as the datum's home knows of.
void flow::meet_demands(datum& d) {
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
      post_.give(wanted.from, never, nullptr, 0);
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
          "this rank has contributed " + std::to_string(p->count) + " times to " + name_of(d) + ", rank " +
              std::to_string(wanted.from) + " knows of " + std::to_string(wanted.count),
          "insert what ends the reduction on all ranks that have contributed")));
    auto& node = make<gather_node>(*this, d, *p->sum, nullptr, p->by, nullptr);
    node.answer_to(wanted.from, wanted.token);
    if (tasks::node* const last = p->last.get()) node.wait_for(*last);
    ask(d, wanted.home, wanted.further, node);
    d.demands.erase(d.demands.begin() + static_cast<std::ptrdiff_t>(i));
    release(node);
  }
}

void flow::handle_contribution(std::unique_ptr<arrival> a) {
  const auto at = asking_.find(a->what.sequence);
  if (at == asking_.end()) return;
  gather_node& node = *at->second.node;
  if (--at->second.left == 0) asking_.erase(at);
  node.came(std::move(a));
  release(node);
}

gather_node::gather_node(flow& in, datum& d, contents& into, contents* own, const reducer& by,
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

void gather_node::go(flow& in) {
  if (before_ != nullptr) {
    if (bytes_ != 0) std::memcpy(into_.data, before_->data, bytes_);
    into_.spoilt = before_->spoilt;
  }
  const auto add = [&](const void* part, const failure* spoilt) {
    if (into_.spoilt == nullptr) into_.spoilt = spoilt;
    if (into_.spoilt == nullptr) by_.combine(into_.data, part, into_.data, count_, nullptr);
  };
  if (into_.spoilt == nullptr) into_.spoilt = lost_;
  if (own_ != nullptr) add(own_->data, own_->spoilt);
  // In the order of ranks: sums of floating point numbers are the same in every run.
  std::sort(answers_.begin(), answers_.end(), [](const auto& a, const auto& b) { return a->from < b->from; });
  for (const auto& a : answers_) add(a->in->data(), a->what.spoilt != 0 ? in.failure_in(*a) : nullptr);
  if (to_ < 0) return in.complete(*this);
  head what;
  what.kind = message_kind::contribution;
  what.origin = in.rank();
  what.number = number_;
  what.sequence = token_;
  if (into_.spoilt != nullptr) {
    in.tell_spoilt(to_, what, *into_.spoilt);
    return in.complete(*this);
  }
  in.count_sent(to_, bytes_);
  if (in.mail().give(to_, what, into_.data, bytes_, {}, this, into_.in)) in.complete(*this);
}

void gather_node::sent() { in_.complete(*this); }

void gather_node::let_go() noexcept {
  into_.drop();
  if (own_ != nullptr) own_->drop();
  if (before_ != nullptr) before_->drop();
}

}  // namespace tutti::tasks
