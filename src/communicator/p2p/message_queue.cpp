// SPDX-License-Identifier: Apache-2.0
#include "communicator/p2p/message_queue.hpp"

#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti {
namespace {

bool fits(int source, int tag, int source_of_message, int tag_of_message) noexcept {
  return (source == rank::any || source == source_of_message) && (tag == tags::any || tag == tag_of_message);
}
bool fits(const detail::recv_args& r, const shm::unexpected_message& one) noexcept {
  return fits(r.source, r.tag, one.source, one.tag);
}
// Whether both could take the same message.
bool meet(const detail::recv_args& a, const detail::recv_args& b) noexcept {
  return (a.source == rank::any || b.source == rank::any || a.source == b.source) &&
         (a.tag == tags::any || b.tag == tags::any || a.tag == b.tag);
}

std::string sent(const detail::envelope& e) {
  return "rank " + std::to_string(e.source) + " sent " + std::to_string(e.bytes) + " bytes";
}

}  // namespace

message_queue::message_queue(context& where, std::unique_ptr<p2p_transport> by)
    : where_(where),
      by_(std::move(by)),
      max_tag_(by_->max_tag()),
      interleaves_(where.ep().interleaves()),
      shared_(by_->shared()) {}

message_queue::~message_queue() {
  while (first_ != nullptr) give_up(*first_);
  while (shm::unexpected_message* one = oldest_) {
    take_out(*one);
    by_->drop(*one, false);
  }
}

// --- the lists

void message_queue::link(posted_recv& w) noexcept {
  w.before = last_;
  w.behind = nullptr;
  (last_ != nullptr ? last_->behind : first_) = &w;
  last_ = &w;
  w.now = posted_recv::state::waits;
}

void message_queue::end(posted_recv& w) noexcept {
  if (w.now != posted_recv::state::waits) --looked_after_;
  (w.before != nullptr ? w.before->behind : first_) = w.behind;
  (w.behind != nullptr ? w.behind->before : last_) = w.before;
  w.now = posted_recv::state::over;
  ++moves_;
}

// In the order of arrival: the message is nearly always the last.
void message_queue::keep(shm::unexpected_message& one) noexcept {
  shm::unexpected_message* after = newest_;
  while (after != nullptr && after->number > one.number) after = after->before;
  one.before = after;
  one.behind = after != nullptr ? after->behind : oldest_;
  (after != nullptr ? after->behind : oldest_) = &one;
  (one.behind != nullptr ? one.behind->before : newest_) = &one;
}

void message_queue::take_out(shm::unexpected_message& one) noexcept {
  (one.before != nullptr ? one.before->behind : oldest_) = one.behind;
  (one.behind != nullptr ? one.behind->before : newest_) = one.before;
}

shm::unexpected_message* message_queue::kept(int source, int tag) const noexcept {
  shm::unexpected_message* one = oldest_;
  while (one != nullptr && !fits(source, tag, one->source, one->tag)) one = one->behind;
  return one;
}

// --- messages to receives

std::exception_ptr message_queue::broken_elements(const posted_recv& w) const {
  mismatch_error e(w.what.operation, where_.members().rank(), "recv_buf",
                   sent(w.found) + ", which is not a whole number of elements of " +
                       std::to_string(w.what.element) + " bytes",
                   "receive it with the element type that it was sent with");
  e.locate(where_.ep().place());
  return std::make_exception_ptr(e);
}

std::exception_ptr message_queue::too_long(const posted_recv& w) const {
  truncation_error e(
      w.what.operation, where_.members().rank(), "recv_count",
      sent(w.found) + ", but this rank has space for " + std::to_string(w.what.most),
      "receive it with the count that is sent, or without a count, so that the buffer is resized");
  e.locate(where_.ep().place());
  return std::make_exception_ptr(e);
}

// Whether the message can be received, and to where. Otherwise the receive keeps the error.
inline message_queue::verdict message_queue::judge(posted_recv& w, const detail::envelope& found,
                                                   void*& into) const {
  const detail::recv_args& r = w.what;
  w.found = found;
  into = r.into;
  if (r.element > 1 && found.bytes % r.element != 0) [[unlikely]] {
    w.refusal = broken_elements(w);
  } else if (r.room != nullptr) {
    try {
      into = r.room(r.state, w.found);
    } catch (...) {
      w.refusal = std::current_exception();
    }
  } else if (found.bytes > r.most) [[unlikely]] {
    w.refusal = too_long(w);
    return verdict::too_long;
  }
  return w.refusal ? verdict::refused : verdict::fits;
}

inline void message_queue::receive(posted_recv& w, shm::unexpected_message& one, void* into) {
  if (by_->open(one, into, w.moving, w.what.operation)) {
    end(w);
  } else {
    w.now = posted_recv::state::moves;
    ++looked_after_;
  }
}

// Returns true if the message is consumed: it was received or too long. A rejected message stays.
bool message_queue::offer(posted_recv& w, shm::unexpected_message& one) {
  void* into = nullptr;
  switch (judge(w, {one.source, one.tag, one.bytes}, into)) {
    case verdict::fits:
      receive(w, one, into);
      return true;
    case verdict::too_long:
      by_->drop(one, true);
      end(w);
      return true;
    default:
      end(w);
      return false;
  }
}

void message_queue::deliver(shm::unexpected_message& one) {
  try {
    for (posted_recv* w = first_; w != nullptr;) {
      posted_recv* const behind = w->behind;
      if (w->now == posted_recv::state::waits && fits(w->what, one) && offer(*w, one)) return;
      w = behind;
    }
  } catch (...) {
    keep(one);
    throw;
  }
  keep(one);
}

void message_queue::take_in(const posted_recv* until) {
  if (looked_after_ != 0) look_after();
  if (shared_) [[unlikely]]
    return fetch_posted(until);
  while (until == nullptr || !until->over()) {
    shm::unexpected_message* const one = by_->next("receiving");
    if (one == nullptr) return;
    one->number = ++came_;
    deliver(*one);
  }
}

posted_recv* message_queue::first_for(const detail::envelope& found) const noexcept {
  for (posted_recv* w = first_; w != nullptr; w = w->behind)
    if (w->now == posted_recv::state::waits && fits(w->what.source, w->what.tag, found.source, found.tag))
      return w;
  return nullptr;
}

// Each receive is offered the first arrived message that it could take. If an earlier receive could
// take it too, the message has arrived since that one was asked, and the earlier one is asked
// again. So a message goes to the first receive that could take it, and a receive gets the first of
// its messages.
void message_queue::fetch_posted(const posted_recv* until) {
  for (posted_recv* w = first_; w != nullptr && (until == nullptr || !until->over());) {
    detail::envelope found;
    if (w->now != posted_recv::state::waits ||
        !by_->peek(w->what.source, w->what.tag, found, w->what.operation)) {
      w = w->behind;
      continue;
    }
    if (posted_recv* const earlier = first_for(found); earlier != w) {
      w = earlier;
      continue;
    }
    void* into = nullptr;
    const verdict answer = judge(*w, found, into);
    if (answer == verdict::refused) {
      end(*w);
    } else if (shm::unexpected_message* const one = by_->fetch(found, w->what.operation)) {
      one->number = ++came_;
      if (answer == verdict::fits) {
        receive(*w, *one, into);
      } else {
        by_->drop(*one, true);
        end(*w);
      }
    } else {
      w->refusal = nullptr;  // a receive of another thread has it
    }
    w = first_;
  }
  give_to_engine();
}

void message_queue::begin(posted_recv& w) {
  w.refusal = nullptr;
  w.found = {};
  link(w);
  try {
    if (w.what.send_args != nullptr) {
      offer(w, *reinterpret_cast<shm::unexpected_message*>(w.what.send_args));
      return;
    }
    if (shm::unexpected_message* const one = kept(w.what.source, w.what.tag)) {
      take_out(*one);
      deliver(*one);  // to this one: it would not be unexpected if others matched it
    }
    if (w.now == posted_recv::state::waits) take_in(&w);
  } catch (...) {
    give_up(w);
    throw;
  }
}

void message_queue::give_up(posted_recv& w) noexcept {
  if (w.over()) return;
  if (w.now == posted_recv::state::engines) by_->withdraw(w.moving);
  end(w);
}

void message_queue::put_back(shm::unexpected_message& one) noexcept {
  try {
    deliver(one);
  } catch (...) {
    // The message stays. The next wait reports that the job is failing.
  }
}

// --- messages without receives

bool message_queue::find(int source, int tag, detail::envelope& found, const char* operation) {
  if (const shm::unexpected_message* const one = kept(source, tag)) {
    found = {one->source, one->tag, one->bytes};
    return true;
  }
  if (!shared_) [[likely]]
    return false;
  detail::envelope what;
  if (!by_->peek(source, tag, what, operation) || first_for(what) != nullptr) return false;
  found = what;
  return true;
}

shm::unexpected_message* message_queue::take_out(const detail::envelope& found, const char* operation) {
  shm::unexpected_message* one = kept(found.source, found.tag);
  if (one != nullptr) {
    take_out(*one);
  } else if (shared_) {
    one = by_->fetch(found, operation);
    if (one != nullptr) one->number = ++came_;
  }
  return one;
}

// --- with the engine

void message_queue::look_after() {
  for (posted_recv* w = first_; w != nullptr;) {
    posted_recv* const behind = w->behind;
    if (w->now == posted_recv::state::moves) {
      if (by_->opened(w->moving, site_of(w->what))) end(*w);
    } else if (w->now == posted_recv::state::engines && by_->came(w->moving, w->found, site_of(w->what))) {
      if (w->found.bytes > w->what.most)
        w->refusal = too_long(*w);
      else if (w->found.bytes % w->what.element != 0)
        w->refusal = broken_elements(*w);
      end(*w);
    }
    w = behind;
  }
}

// For a shared communicator. The engine matches its own receives before those that stay here. So a
// receive that could take a message of an earlier one that stays must stay too.
void message_queue::give_to_engine() {
  for (posted_recv* w = first_; w != nullptr; w = w->behind) {
    if (w->now != posted_recv::state::waits || w->what.room != nullptr || !w->lasts) continue;
    bool free = true;
    for (const posted_recv* earlier = first_; earlier != w && free; earlier = earlier->behind)
      free = earlier->now != posted_recv::state::waits || !meet(earlier->what, w->what);
    if (!free || !by_->take_over(w->what, w->moving)) continue;
    w->now = posted_recv::state::engines;
    ++looked_after_;
  }
}

// --- for reports

shm::wait_site message_queue::site_of(const char* operation, const char* what, int peer,
                                      int tag) const noexcept {
  return {operation, "", what, peer < 0 ? -1 : where_.members().address(peer), -1, shm::wait_site::unnumbered,
          tag};
}

shm::wait_site message_queue::site_of(const detail::recv_args& r) const noexcept {
  return site_of(r.operation, r.source < 0 ? "a message from any rank" : "a message from", r.source, r.tag);
}

shm::wait_site message_queue::site(const char*, int) const noexcept {
  return first_ != nullptr ? site_of(first_->what) : site_of("receiving", "a message", -1, -1);
}

}  // namespace tutti
