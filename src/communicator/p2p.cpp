// SPDX-License-Identifier: Apache-2.0
//
// Point to point: messages checked, sent, waited for. Which receive gets which is src/communicator/p2p's.
#include <algorithm>
#include <memory>
#include <string>

#include "communicator/communicator_impl.hpp"
#include "communicator/operations.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

// matched_message has no definition: it is a parcel, under a name that programs may have.
shm::unexpected_message& unexpected_message_of(matched_message* one) noexcept {
  return *reinterpret_cast<shm::unexpected_message*>(one);
}
matched_message* held(shm::unexpected_message* one) noexcept {
  return reinterpret_cast<matched_message*>(one);
}

constexpr const char* until_read = "a receive of its message by";

}  // namespace

// --- what is refused before anything is sent
// ------------------------------------------------------------------

inline message_queue& communicator_impl::open_p2p(const char* operation) {
  if (released_ || !p2p_ || !runs_here()) [[unlikely]]
    open_first_p2p(operation);
  return *p2p_;
}

void communicator_impl::open_first_p2p(const char* operation) {
  refuse_freed(operation);
  if (p2p_) return;  // any thread may call here
  be_open();
  std::unique_ptr<p2p_transport> by = where_->open_p2p();
  p2p_ = std::make_unique<message_queue>(*where_, by ? std::move(by) : make_self_transport(*where_));
}

message_queue& communicator_impl::p2p_messages(const char* operation) { return open_p2p(operation); }

void communicator_impl::refuse_peer(const char* operation, const char* parameter, int peer) const {
  const bool sends = parameter[0] == 'd';
  if (peer >= 0 && peer < size())
    refuse(operation, parameter,
           "is " + std::to_string(peer) + ", which rank " + std::to_string(rank()) +
               " does not know: it knows only " + std::string(description_of(members_.knows())),
           "name one of these, or use split(0) of this communicator, which knows all ranks");
  refuse(operation, parameter,
         "is " + std::to_string(peer) + ", but ranks are 0 to " + std::to_string(size() - 1),
         sends ? "name a rank of this communicator, or rank::null for nobody"
               : "name a rank of this communicator, rank::any or rank::null");
}

void communicator_impl::refuse_tag(const char* operation, int tag) const {
  refuse(operation, "tag",
         "is " + std::to_string(tag) + ", but tags are 0 to " + std::to_string(p2p_->max_tag()),
         "choose one of these");
}

// False where there is nobody to send to.
inline bool communicator_impl::check_send(const send_args& l) {
  message_queue& box = open_p2p(l.operation);
  if (static_cast<unsigned>(l.tag) > box.max_tag()) [[unlikely]]
    refuse_tag(l.operation, l.tag);
  if (static_cast<unsigned>(l.destination) < static_cast<unsigned>(size()) && members_.knows(l.destination))
      [[likely]]
    return true;
  if (l.destination != rank::null) refuse_peer(l.operation, "destination", l.destination);
  return false;
}

inline bool communicator_impl::check_source(const char* operation, int source, int tag) {
  message_queue& box = open_p2p(operation);
  if (tag != tags::any && static_cast<unsigned>(tag) > box.max_tag()) [[unlikely]]
    refuse_tag(operation, tag);
  if (source == rank::any ||
      (static_cast<unsigned>(source) < static_cast<unsigned>(size()) && members_.knows(source))) [[likely]]
    return true;
  if (source != rank::null) refuse_peer(operation, "source", source);
  return false;
}

void communicator_impl::check(const recv_args& r) { check_source(r.operation, r.source, r.tag); }

// --- waiting
// ---------------------------------------------------------------------------------------------------

// Until `over`. Where nothing else is under way here, the engine waits as it does best, in `alone`, which may
// (`for_p2p`) serve receives of this mailbox too.
template <class Over, class Alone>
void communicator_impl::wait_for_p2p(const shm::wait_site& site, bool for_p2p, const Over& over,
                                     const Alone& alone) {
  message_queue& box = *p2p_;
  const auto& active = shared_->active;
  std::uint64_t moves = box.moves();
  while (!over()) {
    if (active.empty() || (for_p2p && active.size() == 1 && active.front() == &box)) {
      alone();
    } else {
      serve_others(&box);
      box.take_in();
      if (box.moves() != moves) {
        moves = box.moves();
        ep().progressed();
      }
      if (over()) break;
      ep().pause(site);
    }
  }
  ep().progressed();
}

void communicator_impl::finish(posted_recv& w) {
  message_queue& box = *p2p_;
  const auto site = box.site_of(w.what);
  wait_for_p2p(
      site, true, [&] { return w.over(); },
      [&] {
        box.wait(site);
        box.take_in(&w);
      });
}

void communicator_impl::finish(const send_args& l, transfer& t) {
  message_queue& box = *p2p_;
  const auto site = box.site_of(l.operation, until_read, l.destination, l.tag);
  bool sent = false;  // may be asked for once
  wait_for_p2p(
      site, false, [&] { return sent || (sent = box.by().sent(t, site)); },
      [&] {
        box.by().wait_until_sent(t, site);
        sent = true;
      });
}

// --- blocking
// --------------------------------------------------------------------------------------------------

void communicator_impl::send(const send_args& l) {
  if (!check_send(l)) return;
  guarded([&] {
    if (p2p_->interleaves()) ep().preempt();
    transfer t;
    if (!p2p_->by().post(l, t)) finish(l, t);
  });
}

envelope communicator_impl::receive(const recv_args& r) {
  if (r.send_args == nullptr && !check_source(r.operation, r.source, r.tag)) {
    if (r.room != nullptr) r.room(r.state, envelope{});
    return {};
  }
  if (r.send_args != nullptr) open_p2p(r.operation);
  posted_recv w;
  w.what = r;
  struct end_of_wait {
    message_queue& box;
    posted_recv& w;
    ~end_of_wait() { box.give_up(w); }
  };
  {
    const end_of_wait given_up{*p2p_, w};
    guarded([&] {
      if (p2p_->interleaves()) ep().preempt();
      p2p_->begin(w);
      if (!w.over()) finish(w);
    });
  }
  w.settle();
  return w.found;
}

bool communicator_impl::find_message(const char* operation, int source, int tag, bool wait, envelope& found) {
  message_queue& box = *p2p_;
  bool there = false;
  guarded([&] {
    box.take_in();
    if ((there = box.find(source, tag, found, operation))) return;
    if (!wait) {  // nothing is said of a wait: the program may do so for as long as it likes
      serve_others(&box);
      if (ep().size() > 1) ep().pause(box.site_of(operation, "a message", -1, tag));
      ep().progressed();
      box.take_in();
      there = box.find(source, tag, found, operation);
      return;
    }
    const auto site = box.site_of({.operation = operation, .source = source, .tag = tag});
    wait_for_p2p(
        site, true, [&] { return there = box.find(source, tag, found, operation); },
        [&] {
          box.wait(site);
          box.take_in();
        });
  });
  return there;
}

bool communicator_impl::look(const char* operation, int source, int tag, bool wait, envelope& found) {
  found = {};
  if (!check_source(operation, source, tag)) return true;
  return find_message(operation, source, tag, wait, found);
}

matched_message* communicator_impl::take(const char* operation, int source, int tag, bool wait,
                                         envelope& found) {
  found = {};
  if (!check_source(operation, source, tag)) return nullptr;
  while (find_message(operation, source, tag, wait, found))
    if (shm::unexpected_message* const one = p2p_->take_out(found, operation)) return held(one);
  found = {};
  return nullptr;
}

// --- nonblocking and persistent
// -------------------------------------------------------------------------------

/// A message under way, or prepared. When it is complete it waits for the next one.
class p2p_operation final : public pending {
 public:
  explicit p2p_operation(communicator_impl& where) : where_(where) { slot = where.call_site_slot::slot; }
  ~p2p_operation() = default;
  p2p_operation(const p2p_operation&) = delete;
  p2p_operation& operator=(const p2p_operation&) = delete;

  void prepare(const send_args& l, bool to_somebody) {
    sends_ = true;
    nobody_ = !to_somebody;
    args_ = l;
  }
  void prepare(const recv_args& r, bool from_somebody) {
    sends_ = false;
    nobody_ = !from_somebody;
    posted_.what = r;
    posted_.lasts = true;
    posted_.found = {};
  }

  void start() override {
    message_queue& box = where_.open_p2p(operation());
    // Also where its message has come: that it was received would be lost.
    if (started_) where_.refuse(operation(), "", "is already in progress", "wait() before the next start()");
    started_ = true;
    complete_ = false;
    if (nobody_) {
      const recv_args& r = posted_.what;
      if (!sends_ && r.room != nullptr) r.room(r.state, envelope{});
      return;
    }
    where_.guarded([&] {
      if (box.interleaves()) where_.ep().preempt();
      if (sends_)
        sending_ = !box.by().post(args_, moving_);
      else
        box.begin(posted_);
    });
    auto& active = where_.shared_->active;
    if (!sends_ && !posted_.over() && std::find(active.begin(), active.end(), &box) == active.end())
      where_.shared_->add_active(box);
  }
  bool test() override {
    where_.check_thread(operation());
    if (!ended()) {
      where_.guarded([&] {
        where_.serve_others(nullptr);
        // To be asked is not to wait: a rank that is alone has nobody to make room for.
        if (!ended() && where_.ep().size() > 1) where_.ep().pause(site());
      });
      if (!over()) return false;
    }
    complete();
    return true;
  }
  void wait() override {
    where_.check_thread(operation());
    if (!ended()) {
      where_.guarded([&] {
        if (sends_)
          where_.finish(args_, moving_);
        else
          where_.finish(posted_);
      });
      sending_ = false;
    }
    complete();
  }
  const envelope* found() const noexcept override { return !sends_ && complete_ ? &posted_.found : nullptr; }

  bool dismiss() noexcept override {
    if (!where_.usable()) [[unlikely]] {
      const bool goes = where_.release_on_other_thread(!over(), operation());
      if (goes) delete this;
      return goes;
    }
    std::unique_ptr<p2p_operation> self(this);
    end_use(*this, where_.ep(), operation(), where_.rank());
    if (where_.p2p_) {
      where_.p2p_->give_up(posted_);
      leave_active();
    }
    auto& idle = where_.idle_p2p_;
    if (sending_ || idle.size() == idle.capacity()) return true;
    posted_.refusal = nullptr;
    started_ = complete_ = false;
    idle.push_back(self.release());
    return true;
  }

 private:
  const char* operation() const noexcept { return sends_ ? args_.operation : posted_.what.operation; }
  bool over() const noexcept { return !sending_ && posted_.over(); }
  bool ended() {
    if (sending_) sending_ = !where_.p2p_->by().sent(moving_, site());
    return over();
  }
  shm::wait_site site() const noexcept {
    return sends_ ? where_.p2p_->site_of(args_.operation, until_read, args_.destination, args_.tag)
                  : where_.p2p_->site_of(posted_.what);
  }
  void complete() {
    leave_active();
    complete_ = started_ || complete_;
    started_ = false;
    if (posted_.refusal) [[unlikely]] {
      complete_ = false;
      posted_.settle();
    }
  }
  void leave_active() noexcept {
    if (sends_ || !where_.p2p_ || where_.p2p_->busy()) return;
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), where_.p2p_.get()), active.end());
  }

  communicator_impl& where_;
  bool sends_ = false, nobody_ = false;
  bool sending_ = false;  // under way
  bool started_ = false;  // and not known to be complete
  bool complete_ = false;
  send_args args_;
  transfer moving_;
  posted_recv posted_;
};

template <class What>
pending_call communicator_impl::make_p2p(const What& what, bool somebody, bool started) {
  owner<p2p_operation> made = idle_or_new(idle_p2p_, max_idle, *this);
  made->prepare(what, somebody);
  if (started) made->start();
  return made;
}

pending_call communicator_impl::make_send(const send_args& l, bool started) {
  return make_p2p(l, check_send(l), started);
}
pending_call communicator_impl::make_receive(const recv_args& r, bool started) {
  const bool somebody = r.send_args != nullptr || check_source(r.operation, r.source, r.tag);
  return make_p2p(r, somebody, started);
}

void communicator_impl::end_p2p() noexcept {
  for (const p2p_operation* one : idle_p2p_) delete one;
  idle_p2p_.clear();
  std::erase(shared_->active, p2p_.get());
  p2p_.reset();
}

// --- the door (tutti/detail/p2p_abi.hpp)
// ----------------------------------------------------------------------------

void send(communicator_impl& c, const send_args& l) { c.send(l); }
pending_call start_send(communicator_impl& c, const send_args& l) { return c.make_send(l, true); }
pending_call prepare_send(communicator_impl& c, const send_args& l) { return c.make_send(l, false); }
void check_recv(communicator_impl& c, const recv_args& r) { c.check(r); }
envelope receive(communicator_impl& c, const recv_args& r) { return c.receive(r); }
pending_call start_receive(communicator_impl& c, const recv_args& r) { return c.make_receive(r, true); }
pending_call prepare_receive(communicator_impl& c, const recv_args& r) { return c.make_receive(r, false); }
envelope found(const pending& p) noexcept {
  const envelope* e = p.found();
  return e != nullptr ? *e : envelope{};
}
bool look(communicator_impl& c, const char* operation, int source, int tag, bool wait, envelope& e) {
  return c.look(operation, source, tag, wait, e);
}
matched_message* take(communicator_impl& c, const char* operation, int source, int tag, bool wait,
                      envelope& e) {
  return c.take(operation, source, tag, wait, e);
}
// After the run the letter went with its engine; on another thread it stays out.
void put_back(communicator_impl& c, matched_message* one) noexcept {
  if (c.usable()) c.put_back(unexpected_message_of(one));
}

}  // namespace tutti::detail
