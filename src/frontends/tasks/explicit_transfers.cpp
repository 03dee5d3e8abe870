// SPDX-License-Identifier: Apache-2.0
//
// Transfers that the program asks for by itself. On the runtime's own ranks they are messages like all
// others, and meet by sender and tag in the order in which they were begun; on another communicator they are
// that one's messages.
#include <algorithm>
#include <cstring>
#include <string>

#include "frontends/tasks/node_kinds.hpp"
#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {
void task_graph::check_explicit(const char* operation, const explicit_transfer& t, bool sends) const {
  refuse_from_kernels(operation);
  if (t.what == nullptr) refuse(operation, "handle", "is empty", "give one that data() has returned");
  check_own(operation, *t.what);
  const char* const whom = sends ? "dest" : "src";
  const int size = t.where != nullptr ? detail::size_of(*t.where) : size_;
  if ((t.peer < 0 || t.peer >= size) && (sends || t.peer != rank::any))
    refuse(operation, whom,
           "is " + std::to_string(t.peer) + ", but ranks are 0 to " + std::to_string(size - 1),
           sends ? "name a rank" : "name a rank, or rank::any");
  if (t.tag < 0 && (sends || t.tag != tags::any))
    refuse(operation, "tag", "is " + std::to_string(t.tag) + ", but tags are from 0 on",
           sends ? "choose one of these" : "choose one of these, or tags::any");
  if (t.where != nullptr && t.tag >= 0 &&
      static_cast<unsigned>(t.tag) > detail::message_queue_of(*t.where, operation).max_tag())
    refuse(operation, "tag", "is " + std::to_string(t.tag) + ", which is beyond what the engine has",
           "choose a lower one");
  if (sends && !t.what->readable && t.what->home != rank_)
    refuse(operation, "handle", "is of " + name_of(*t.what) + ", of which this rank has no contents",
           "fetch() it first");
}

explicit_transfer_node& task_graph::make_explicit(const explicit_transfer& t, bool sends) {
  data_handle& d = *t.what;
  settle(d, false);
  if (d.here == nullptr) new_contents(d, true);
  if (sends) {
    auto& node = make<explicit_transfer_node>(*this, t, *d.here, true);
    read_by(d, node);
    return node;
  }
  contents* before = nullptr;
  if (!d.fixed) {
    contents* const fresh = new contents;
    fresh->substitute_buffers(block::make(d.bytes));
    std::memset(fresh->data, 0, d.bytes);
    d.here->drop();
    d.here = fresh;
    auto& node = make<explicit_transfer_node>(*this, t, *fresh, false);
    d.fixed = d.home == rank_;
    d.writer = node_ref(&node);
    d.readers.clear();
    d.sending = {};
    d.readable = true;
    if (d.home == rank_) forget_copies_of_others(d);
    return node;
  }
  auto& node = make<explicit_transfer_node>(*this, t, *d.here, false);
  written_by(d, node, true, before);
  d.readable = true;
  if (d.home == rank_) forget_copies_of_others(d);
  return node;
}

void* task_graph::start(const explicit_transfer& t, bool sends) {
  check_explicit(sends ? "isend" : "irecv", t, sends);
  auto* const handle = new std::shared_ptr<explicit_request>(std::make_shared<explicit_request>());
  explicit_transfer_node& node = make_explicit(t, sends);
  node.request = *handle;
  release(node);
  return handle;
}

bool task_graph::test(void* request, detail::envelope& found) {
  auto& r = **static_cast<std::shared_ptr<explicit_request>*>(request);
  if (!r.over) {
    progress_all();
    if (!r.over && detail::endpoint_of(*all_).size() > 1) {
      detail::endpoint_of(*all_).pause(site("a transfer"));
      detail::endpoint_of(*all_).progressed();
    }
    if (!r.over) return false;
  }
  found = r.found;
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
  return true;
}

void task_graph::wait(void* request, detail::envelope& found) {
  auto& r = **static_cast<std::shared_ptr<explicit_request>*>(request);
  wait_until([&] { return r.over; }, "a transfer", "wait");
  found = r.found;
  if (r.error) std::rethrow_exception(std::exchange(r.error, nullptr));
}

// Its node goes on without it; what is not complete is waited for by the end of the runtime.
void task_graph::drop(void* request) noexcept {
  auto* const r = static_cast<std::shared_ptr<explicit_request>*>(request);
  if (!(*r)->over && std::uncaught_exceptions() == 0) {
    try {
      wait_until([&] { return (*r)->over; }, "a transfer", "wait");
    } catch (...) {
      note_error(std::current_exception());
    }
  }
  delete r;
}

void task_graph::detach(const explicit_transfer* all, std::size_t n, bool sends, const follow_up& then) {
  const char* const operation = sends ? "isend_detached" : "irecv_detached";
  for (std::size_t i = 0; i < n; ++i) check_explicit(operation, all[i], sends);
  auto group = std::make_shared<explicit_group>();
  group->left = n;
  group->then = then;
  if (then.unlocks) tags_[then.tag].open = false;
  if (n == 0) return follow(*group);
  for (std::size_t i = 0; i < n; ++i) {
    explicit_transfer_node& node = make_explicit(all[i], sends);
    node.group = group;
    release(node);
  }
  if (++inserted_ % 32 == 0) progress(false);
}

void task_graph::follow(explicit_group& g) {
  if (g.then.unlocks) unlock(g.then.tag);
  if (g.then.call) calls_.push_back(std::move(g.then.call));
}

// --- on the runtime's own ranks
// ------------------------------------------------------------------------------------

void task_graph::handle_explicit(std::unique_ptr<arrival> a) {
  for (auto one = explicit_transfer_.begin(); one != explicit_transfer_.end(); ++one)
    if ((*one)->takes(*a)) {
      explicit_transfer_node& node = **one;
      explicit_transfer_.erase(one);
      return node.came(std::move(a));
    }
  unrequested_.push_back(std::move(a));
  if (through_) refuse_unrequested();
}

void task_graph::meet_expected(explicit_transfer_node& one) {
  for (auto a = unrequested_.begin(); a != unrequested_.end(); ++a)
    if (one.takes(**a)) {
      std::unique_ptr<arrival> came = std::move(*a);
      unrequested_.erase(a);
      return one.came(std::move(came));
    }
  explicit_transfer_.push_back(&one);
}

bool explicit_transfer_node::takes(const arrival& a) const noexcept {
  return (peer_ == rank::any || peer_ == a.from) && (tag_ == tags::any || tag_ == a.what.number);
}

std::string explicit_transfer_node::what() const {
  return std::string(sends_ ? "a send to rank " : "a message from ") +
         (peer_ == rank::any ? "any rank" : (sends_ ? "" : "rank ") + std::to_string(peer_)) + ", tag " +
         (tag_ == tags::any ? "any" : std::to_string(tag_));
}

void explicit_transfer_node::go(task_graph& in) {
  began_ = in.trace_time();
  if (where_ != nullptr) {
    if (sends_ && at_.poisoned == nullptr) {
      elsewhere_ = detail::start_send(
          *where_,
          {.operation = "isend", .destination = peer_, .tag = tag_, .data = at_.data, .bytes = bytes_});
      in.count_elsewhere(*where_, peer_, bytes_);
    } else if (!sends_) {
      elsewhere_ = detail::start_receive(
          *where_, {.operation = "irecv", .source = peer_, .tag = tag_, .into = at_.data, .most = bytes_});
    }
    if (elsewhere_) return in.look_after(*this);
  }
  if (!sends_) return in.meet_expected(*this);
  if (at_.poisoned != nullptr) {
    fail_with(error_of(*at_.poisoned, "isend", in.rank()));
    if (where_ == nullptr) {
      head what;
      what.kind = message_kind::explicit_transfer;
      what.number = tag_;
      in.report_poisoned(peer_, what, *at_.poisoned);
    }
    return finish();
  }
  head what;
  what.kind = message_kind::explicit_transfer;
  what.origin = in.rank();
  what.number = tag_;
  in.count_sent(peer_, bytes_);
  if (peer_ == in.rank()) {  // what is sent to oneself is received by nobody while one waits
    block* const copy = block::make(bytes_);
    if (bytes_ != 0) std::memcpy(copy->data(), at_.data, bytes_);
    in.messages().give(peer_, what, copy->data(), bytes_, {}, nullptr, copy);
    copy->drop();
    return finish();
  }
  if (in.messages().give(peer_, what, at_.data, bytes_, {}, this, at_.in)) finish();
}

void explicit_transfer_node::sent() { finish(); }

void explicit_transfer_node::came(std::unique_ptr<arrival> a) {
  came_ = std::move(a);
  const head& what = came_->what;
  found_ = {came_->from, static_cast<int>(what.number), what.bytes};
  if (what.poisoned != 0) {
    at_.poisoned = in_.failure_in(*came_);
    found_.bytes = 0;
    fail_with(error_of(*at_.poisoned, "irecv", in_.rank()));
    return finish();
  }
  if (what.bytes > bytes_) {
    fail_with(std::make_exception_ptr(
        truncation_error("irecv", in_.rank(), "handle",
                         "rank " + std::to_string(came_->from) + " sent " + std::to_string(what.bytes) +
                             " bytes where the datum has " + std::to_string(bytes_),
                         "make the data as long on both ranks")));
    if (what.with == 0) return finish();
    aside_ = block::make(what.bytes);
    return in_.messages().take(*came_, aside_->data(), *this);
  }
  if (what.with != 0) return in_.messages().take(*came_, at_.data, *this);
  if (what.bytes != 0) std::memcpy(at_.data, came_->in->data(), what.bytes);
  at_.poisoned = nullptr;
  finish();
}

void explicit_transfer_node::taken() {
  if (aside_ != nullptr)
    std::exchange(aside_, nullptr)->drop();
  else
    at_.poisoned = nullptr;
  finish();
}

bool explicit_transfer_node::poll() {
  try {
    if (!elsewhere_->test()) return false;
    found_ = detail::found(*elsewhere_);
    if (!sends_) at_.poisoned = nullptr;
  } catch (const mismatch_error&) {
    fail_with(std::current_exception());
  }
  elsewhere_.reset();
  finish();
  return true;
}

void explicit_transfer_node::fail_with(std::exception_ptr e) {
  if (request != nullptr)
    error_ = std::move(e);
  else if (at_.poisoned == nullptr)
    in_.note_error(std::move(e));
}

void explicit_transfer_node::finish() {
  in_.trace_transfer(sends_, began_, sends_ ? peer_ : found_.source, bytes_);
  in_.complete(*this);
}

// What follows it follows when it is taken away, on the rank's thread.
void explicit_transfer_node::end(task_graph& in) noexcept {
  if (request != nullptr) {
    request->over = true;
    request->found = found_;
    request->error = error_;
  }
  if (group != nullptr && --group->left == 0) in.follow(*group);
}

}  // namespace tutti::tasks
