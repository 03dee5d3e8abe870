// SPDX-License-Identifier: Apache-2.0
//
// What comes and goes. A message with contents names the rank they are from, the datum, and which transfer of
// it between these two it is; so it does not matter on what way it came. What is to go on to other ranks does
// so as soon as it is here, whether this rank has asked for its own yet or not.
#include <algorithm>
#include <cstring>
#include <string>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"

namespace tutti::tasks {
namespace {

/// Takes long contents into a block, and hands the message over then.
class fetching final : public taker {
 public:
  fetching(task_graph& in, std::unique_ptr<arrival> a, void (task_graph::*then)(std::unique_ptr<arrival>))
      : in_(in), a_(std::move(a)), then_(then) {
    a_->in = block::make(a_->what.bytes);
    in_.messages().take(*a_, a_->in->data(), *this);
  }
  void taken() override {
    const std::unique_ptr<fetching> self(this);
    a_->what.with = 0;
    (in_.*then_)(std::move(a_));
  }

 private:
  task_graph& in_;
  std::unique_ptr<arrival> a_;
  void (task_graph::*then_)(std::unique_ptr<arrival>);
};

}  // namespace

// --- sending
// ---------------------------------------------------------------------------------------------------

// Each child takes half of those that are left over: after k messages one after the other 2^k ranks have it.
std::size_t task_graph::send_contents(const head& what, const contents& from, std::size_t bytes,
                                      const forwarding* to, std::size_t n, sender* tell) {
  std::size_t under_way = 0;
  while (n > 0) {
    const std::size_t whole = n <= 2 ? 1 : (n + 1) / 2;
    head one = what;
    one.sequence = to->sequence;
    count_sent(to->rank, bytes);
    if (!messenger_.give(to->rank, one, from.data, bytes, {to + 1, whole - 1}, tell, from.in)) ++under_way;
    to += whole;
    n -= whole;
  }
  return under_way;
}

std::string text_of(const failure& why) {
  std::string text = why.task;
  text += '\0';
  text += std::to_string(why.rank);
  text += '\0';
  return text += why.text.substr(0, 3000);
}

void task_graph::report_poisoned(int to, head what, const failure& why, std::span<const forwarding> further) {
  what.poisoned = 1;
  const std::string text = text_of(why);
  messenger_.give(to, what, text.data(), text.size(), further);
}

send_node::send_node(task_graph& in, data_handle& d, contents& from)
    : node(false), in_(in), from_(from), number_(d.number), bytes_(d.bytes) {
  from.keep();
}

void send_node::go(task_graph& in) {
  begun_ = true;
  began_ = in.trace_time();
  head what;
  what.origin = in.rank();
  what.number = number_;
  if (from_.poisoned != nullptr) {
    for (const forwarding& one : to_) {
      what.sequence = one.sequence;
      in.report_poisoned(one.rank, what, *from_.poisoned);
    }
  } else {
    left_ = in.send_contents(what, from_, bytes_, to_.data(), to_.size(), this);
  }
  if (left_ == 0) finish();
}

void send_node::sent() {
  if (--left_ == 0) finish();
}

void send_node::finish() {
  in_.trace_transfer(true, began_, to_.front().rank, bytes_);
  in_.complete(*this);
}

// --- receiving
// -------------------------------------------------------------------------------------------------

std::string receive_node::what() const { return "data from rank " + std::to_string(origin_); }

void receive_node::go(task_graph& in) {
  in_ = &in;
  began_ = in.trace_time();
  meet();
}

void receive_node::came(std::unique_ptr<arrival> a) {
  came_ = std::move(a);
  meet();
}

void receive_node::meet() {
  if (in_ == nullptr || (came_ == nullptr && lost_ == nullptr)) return;
  if (lost_ != nullptr) {
    into_.poisoned = lost_;
    if (into_.data == nullptr && bytes_ != 0) into_.substitute_buffers(block::make(bytes_));
    return finish();
  }
  arrival& a = *came_;
  if (a.what.poisoned != 0) {
    into_.poisoned = in_->failure_in(a);
    if (into_.data == nullptr && bytes_ != 0) into_.substitute_buffers(block::make(bytes_));
  } else if (a.what.bytes != bytes_) {
    in_->note_error(std::make_exception_ptr(mismatch_error(
        "tasks", in_->rank(), "data",
        "data handle " + std::to_string(of_.number) + " has " + std::to_string(bytes_) + " bytes here, but " +
            std::to_string(a.what.bytes) + " on rank " + std::to_string(origin_),
        "create the same data handles on all ranks, in the same order")));
    into_.poisoned = in_->fail("a transfer", in_->rank(), "the sizes differ", nullptr, false);
    if (into_.data == nullptr) into_.substitute_buffers(block::make(bytes_));
  } else if (a.what.with != 0) {
    return in_->messages().take(a, into_.data, *this);
  } else if (in_place_) {
    if (bytes_ != 0) std::memcpy(into_.data, a.in->data(), bytes_);
    into_.poisoned = nullptr;
  } else {
    into_.substitute_buffers(std::exchange(a.in, nullptr));
  }
  finish();
}

void receive_node::give_up(const failure* why) {
  lost_ = why;
  meet();
}

void receive_node::taken() {
  into_.poisoned = nullptr;
  finish();
}

void receive_node::finish() {
  in_->trace_transfer(false, began_, origin_, bytes_);
  in_->complete(*this);
}

const failure* task_graph::failure_in(const char* text, std::size_t bytes) {
  const std::string task(text), rank(text + task.size() + 1);
  const std::size_t at = task.size() + rank.size() + 2;
  return fail(task, std::atoi(rank.c_str()), std::string(text + at, bytes - at), nullptr);
}

// --- messages
// ---------------------------------------------------------------------------------------------------

void task_graph::handle(std::unique_ptr<arrival> a) {
  const bool alone = a->what.with != 0;
  switch (a->what.kind) {
    case message_kind::contents: {
      if (!alone) return handle_contents(std::move(a));
      // Straight to where they belong, where that is known and nobody else waits for them.
      if (a->further.empty())
        if (receive_node* const one = expected_of(*a); one != nullptr && one->waits_in_place()) {
          forget_expected(*one);
          return one->came(std::move(a));
        }
      new fetching(*this, std::move(a), &task_graph::handle_contents);
      return;
    }
    case message_kind::explicit_transfer:
      return handle_explicit(std::move(a));
    case message_kind::collect:
      return handle_collect(std::move(a));
    case message_kind::contribution:
      if (alone)
        new fetching(*this, std::move(a), &task_graph::handle_contribution);
      else
        handle_contribution(std::move(a));
      return;
    case message_kind::inquiry:
      return handle_inquiry(*a);
    case message_kind::never:
      return handle_never(*a);
    case message_kind::gone:
      return note_error(std::make_exception_ptr(
          peer_error("tasks", rank_, "",
                     "an exception left the runtime's scope on rank " + std::to_string(a->from), "")));
    case message_kind::meeting: {
      if (met_.size() <= a->what.sequence) met_.resize(a->what.sequence + 1);
      ++met_[a->what.sequence];
      return;
    }
    case message_kind::pack:
      if (alone)
        new fetching(*this, std::move(a), &task_graph::handle_pack);
      else
        handle_pack(std::move(a));
      return;
  }
}

receive_node* task_graph::expected_of(const arrival& a) {
  if (data_handle* const d = find(a.what.number))
    for (receive_node* one : d->expected)
      if (one->origin() == a.what.origin && one->sequence() == a.what.sequence) return one;
  return nullptr;
}

void task_graph::handle_contents(std::unique_ptr<arrival> a) {
  if (!a->further.empty()) pass_on(*a);
  if (receive_node* const one = expected_of(*a)) {
    forget_expected(*one);
    return one->came(std::move(a));
  }
  data_handle* const d = find(a->what.number);
  (d != nullptr ? d->early : no_rank_).push_back(std::move(a));
}

void task_graph::pass_on(arrival& a) {
  const std::vector<forwarding> further = std::exchange(a.further, {});
  contents here;
  here.in = a.in;
  here.data = a.in->data();
  send_contents(a.what, here, a.what.bytes, further.data(), further.size(), nullptr);
}

// --- what does not come
// --------------------------------------------------------------------------------------------

// Asks for what has been waited for in vain; the answer comes when it is certain that it never will.
void task_graph::inquire() {
  int times = 0;
  for (receive_node* one : expected_) {
    if (one->explicit_transfer) continue;
    one->explicit_transfer = true;
    head what;
    what.kind = message_kind::inquiry;
    what.number = one->of().number;
    what.sequence = one->sequence();
    messenger_.give(one->origin(), what, nullptr, 0);
    if (++times == 64) return;
  }
  for (const explicit_transfer_node* one : explicit_transfer_)
    for (int r = 0; r < size_; ++r) {
      if (!one->comes_from(r) || r == rank_ || inquired_[static_cast<std::size_t>(r)]) continue;
      inquired_[static_cast<std::size_t>(r)] = true;
      head what;
      what.kind = message_kind::inquiry;
      what.token = 1;
      messenger_.give(r, what, nullptr, 0);
    }
  refuse_ended();
}

// Those whose senders have all come to their end, and all that they sent is here.
void task_graph::refuse_ended() {
  for (std::size_t i = 0; i < explicit_transfer_.size();) {
    explicit_transfer_node& one = *explicit_transfer_[i];
    bool ended = !one.comes_from(rank_);
    for (int r = 0; r < size_; ++r)
      ended = ended && (!one.comes_from(r) || ended_[static_cast<std::size_t>(r)]);
    if (!ended) {
      ++i;
      continue;
    }
    explicit_transfer_.erase(explicit_transfer_.begin() + static_cast<std::ptrdiff_t>(i));
    one.give_up(std::make_exception_ptr(
        mismatch_error("tasks", rank_, "",
                       "this rank waits for " + one.what() +
                           ", but every rank that could send it has reached the end of its runtime",
                       "match every receive with a send of the same tag")));
  }
}

void task_graph::handle_inquiry(const arrival& a) {
  if (!closing_ || (a.what.token != 0 && !through_)) {
    inquiries_.push_back({a.what, a.from, nullptr, {}});
    return;
  }
  if (a.what.token != 0) {
    head what;
    what.kind = message_kind::never;
    what.origin = 1;
    return void(messenger_.give(a.from, what, nullptr, 0));
  }
  data_handle* const d = find(a.what.number);
  if (d != nullptr && d->with(a.from).sent > a.what.sequence) return;
  head what;
  what.kind = message_kind::never;
  what.number = a.what.number;
  what.sequence = a.what.sequence;
  messenger_.give(a.from, what, nullptr, 0);
}

void task_graph::handle_never(const arrival& a) {
  if (a.what.origin != 0) {  // all that it sent is here
    ended_[static_cast<std::size_t>(a.from)] = true;
    return refuse_ended();
  }
  constexpr const char* remedy =
      "insert the same tasks and transfers on all ranks that they concern, in the same order";
  const std::string who = "rank " + std::to_string(a.from);
  if (a.what.token != 0) {
    const auto at = explicit_requests_.find(a.what.token);
    if (at == explicit_requests_.end()) return;
    const data_handle* const d = find(a.what.number);
    note_error(std::make_exception_ptr(
        mismatch_error("tasks", rank_, "",
                       who + " has reached the end of its runtime without inserting its contribution to " +
                           (d != nullptr ? name_of(*d) : "a data handle"),
                       remedy)));
    gather_node& node = *at->second.node;
    if (--at->second.left == 0) explicit_requests_.erase(at);
    node.give_up(fail("a contribution", a.from, "it was never inserted", nullptr, false));
    return release(node);
  }
  for (receive_node* one : expected_) {
    if (one->of().number != a.what.number || one->origin() != a.from || one->sequence() != a.what.sequence)
      continue;
    note_error(std::make_exception_ptr(mismatch_error(
        "tasks", rank_, "",
        "this rank waits for " + name_of(one->of()) + " from " + who +
            ", which has reached the end of its runtime without inserting a task or transfer that sends it",
        remedy)));
    forget_expected(*one);
    return one->give_up(fail("a transfer", a.from, "it was never inserted", nullptr, false));
  }
}

}  // namespace tutti::tasks
