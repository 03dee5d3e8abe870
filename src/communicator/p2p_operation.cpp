// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking and persistent messages. While a receive is under way, every wait of this rank
// progresses it with all others of its queue.
#include <algorithm>
#include <memory>
#include <utility>

#include "communicator/communicator_impl.hpp"
#include "communicator/operations.hpp"
#include "communicator/p2p_calls.hpp"

namespace tutti::detail {

/// A message under way, or prepared. When it is complete, the next message reuses the object.
class p2p_calls::operation final : public pending {
 public:
  explicit operation(p2p_calls& where) : where_(where), state_(where.state_) {
    slot = &state_.this_rank().current.place;
  }
  ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// `has_peer`: the peer is not rank::null.
  void prepare(const send_args& args, bool has_peer) {
    sends_ = true;
    is_null_ = !has_peer;
    args_ = args;
  }
  void prepare(const recv_args& r, bool has_peer) {
    sends_ = false;
    is_null_ = !has_peer;
    posted_.what = r;
    posted_.nonblocking = true;
    posted_.found = {};
  }

  void start() override {
    message_queue& queue = where_.open(name());
    // Even if its message has arrived: the program would not learn that it was received.
    if (started_) state_.reject(name(), "", "is already in progress", "wait() before the next start()");
    started_ = true;
    complete_ = false;
    if (is_null_) {
      const recv_args& r = posted_.what;
      if (!sends_ && r.allocate != nullptr) r.allocate(r.state, envelope{});
      return;
    }
    state_.guarded([&] {
      if (queue.interleaves()) state_.ep().preempt();
      if (sends_)
        sending_ = !queue.transport().post(args_, moving_);
      else
        queue.begin(posted_);
    });
    auto& active = state_.this_rank().active;
    if (!sends_ && !posted_.over() && std::find(active.begin(), active.end(), &queue) == active.end())
      state_.this_rank().add_active(queue);
  }
  bool test() override {
    state_.validate_thread(name());
    return test_here();
  }
  void wait() override {
    state_.validate_thread(name());
    wait_here();
  }
  bool test_at_entry() override {
    state_.validate_entry(name());
    return test_here();
  }
  void wait_at_entry() override {
    state_.validate_entry(name());
    wait_here();
  }
  const envelope* found() const noexcept override { return !sends_ && complete_ ? &posted_.found : nullptr; }

  bool dismiss() noexcept override {
    if (!state_.usable()) [[unlikely]] {
      const bool may_delete = state_.release_on_other_thread(!over(), name());
      if (may_delete) delete this;
      return may_delete;
    }
    std::unique_ptr<operation> self(this);
    end_use(*this, state_.ep(), name(), state_.rank());
    if (where_.queue_) {
      where_.queue_->cancel(posted_);
      leave_active();
    }
    auto& idle = where_.idle_;
    if (sending_ || idle.size() == idle.capacity()) return true;
    posted_.failure = nullptr;
    started_ = complete_ = false;
    idle.push_back(self.release());
    return true;
  }

 private:
  [[gnu::always_inline]] bool test_here() {
    if (!ended()) {
      state_.guarded([&] {
        state_.this_rank().progress_others(nullptr, true);
        // A test is no wait: a single rank has no other rank to let run.
        if (!ended() && state_.ep().size() > 1) state_.ep().pause(site());
      });
      if (!over()) return false;
    }
    complete();
    return true;
  }
  [[gnu::always_inline]] void wait_here() {
    if (!ended()) {
      state_.guarded([&] {
        if (sends_)
          where_.finish(args_, moving_);
        else
          where_.finish(posted_);
      });
      sending_ = false;
    }
    complete();
  }
  const char* name() const noexcept { return sends_ ? args_.operation : posted_.what.operation; }
  bool over() const noexcept { return !sending_ && posted_.over(); }
  bool ended() {
    if (sending_) sending_ = !where_.queue_->transport().sent(moving_, site());
    return over();
  }
  shm::wait_site site() const noexcept {
    return sends_ ? where_.queue_->site_of(args_.operation, until_received, args_.destination, args_.tag)
                  : where_.queue_->site_of(posted_.what);
  }
  void complete() {
    leave_active();
    complete_ = started_ || complete_;
    started_ = false;
    if (posted_.failure) [[unlikely]] {
      complete_ = false;
      posted_.rethrow_failure();
    }
  }
  void leave_active() noexcept {
    if (sends_ || !where_.queue_ || where_.queue_->has_posted()) return;
    auto& active = state_.this_rank().active;
    active.erase(std::remove(active.begin(), active.end(), where_.queue_.get()), active.end());
  }

  p2p_calls& where_;
  communicator_state& state_;
  bool sends_ = false, is_null_ = false;
  bool sending_ = false;  // under way
  bool started_ = false;  // and not known to be complete
  bool complete_ = false;
  send_args args_;
  transfer moving_;
  posted_recv posted_;
};

template <class What>
pending_call p2p_calls::make(const What& what, bool has_peer, bool started) {
  owner<operation> made = idle_or_new(idle_, max_idle, *this);
  made->prepare(what, has_peer);
  if (started) made->start();
  return made;
}

inline pending_call p2p_calls::make_send(const send_args& args, bool started) {
  return make(args, validate_send(args), started);
}
inline pending_call p2p_calls::make_receive(const recv_args& r, bool started) {
  const bool has_peer = r.matched != nullptr || validate_source(r.operation, r.source, r.tag);
  return make(r, has_peer, started);
}

void p2p_calls::close() noexcept {
  if (!queue_) return;
  for (const operation* one : idle_) delete one;
  idle_.clear();
  std::erase(state_.this_rank().active, queue_.get());
  forget();
  queue_.reset();
}

// --- tutti/detail/p2p_abi.hpp

pending_call start_send(communicator_impl& c, const send_args& args) { return c.p2p().make_send(args, true); }
pending_call prepare_send(communicator_impl& c, const send_args& args) {
  return c.p2p().make_send(args, false);
}
pending_call start_receive(communicator_impl& c, const recv_args& r) { return c.p2p().make_receive(r, true); }
pending_call prepare_receive(communicator_impl& c, const recv_args& r) {
  return c.p2p().make_receive(r, false);
}

}  // namespace tutti::detail
