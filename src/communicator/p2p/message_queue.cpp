// SPDX-License-Identifier: Apache-2.0
#include "communicator/p2p/message_queue.hpp"

#include <string>
#include <utility>

namespace tutti::detail {
namespace {

bool matches(int source, int tag, int source_of_message, int tag_of_message) noexcept {
  return (source == rank::any || source == source_of_message) && (tag == tags::any || tag == tag_of_message);
}
bool matches(const detail::recv_args& r, const shm::unexpected_message& one) noexcept {
  return matches(r.source, r.tag, one.source, one.tag);
}
// Whether a message may match both.
bool overlap(const detail::recv_args& a, const detail::recv_args& b) noexcept {
  return (a.source == rank::any || b.source == rank::any || a.source == b.source) &&
         (a.tag == tags::any || b.tag == tags::any || a.tag == b.tag);
}

std::string sent(const detail::envelope& e) {
  return "rank " + std::to_string(e.source) + " sent " + std::to_string(e.bytes) + " bytes";
}

}  // namespace

message_queue::message_queue(context& where, std::unique_ptr<p2p_transport> by)
    : where_(where),
      transport_(std::move(by)),
      max_tag_(transport_->max_tag()),
      interleaves_(where.ep().interleaves()),
      shared_(transport_->shared()) {}

message_queue::~message_queue() {
  while (first_ != nullptr) cancel(*first_);
  while (shm::unexpected_message* one = oldest_) {
    remove_unexpected(*one);
    transport_->drop(*one, p2p_transport::dropped::unreceived);
  }
}

// --- the lists

void message_queue::link(posted_recv& recv) noexcept {
  recv.prev = last_;
  recv.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &recv;
  last_ = &recv;
  recv.current = posted_recv::state::waiting;
}

void message_queue::end(posted_recv& recv) noexcept {
  if (recv.current != posted_recv::state::waiting) --in_progress_;
  (recv.prev != nullptr ? recv.prev->next : first_) = recv.next;
  (recv.next != nullptr ? recv.next->prev : last_) = recv.prev;
  recv.current = posted_recv::state::over;
  ++progress_count_;
}

// In the order of arrival: the message is nearly always the last.
void message_queue::add_unexpected(shm::unexpected_message& one) noexcept {
  shm::unexpected_message* prev = newest_;
  while (prev != nullptr && prev->sequence_number > one.sequence_number) prev = prev->list_prev;
  one.list_prev = prev;
  one.list_next = prev != nullptr ? prev->list_next : oldest_;
  (prev != nullptr ? prev->list_next : oldest_) = &one;
  (one.list_next != nullptr ? one.list_next->list_prev : newest_) = &one;
}

void message_queue::remove_unexpected(shm::unexpected_message& one) noexcept {
  (one.list_prev != nullptr ? one.list_prev->list_next : oldest_) = one.list_next;
  (one.list_next != nullptr ? one.list_next->list_prev : newest_) = one.list_prev;
}

shm::unexpected_message* message_queue::find_unexpected(int source, int tag) const noexcept {
  shm::unexpected_message* one = oldest_;
  while (one != nullptr && !matches(source, tag, one->source, one->tag)) one = one->list_next;
  return one;
}

// --- messages to receives

mismatch_error partial_element(const recv_args& recv, const envelope& found, int rank,
                               const std::source_location& at) {
  mismatch_error e(
      recv.operation, rank, "recv_buf",
      sent(found) + ", which is not a whole number of elements of " + std::to_string(recv.element) + " bytes",
      "receive it with the element type that it was sent with");
  e.locate(at);
  return e;
}

std::exception_ptr message_queue::partial_element(const posted_recv& recv) const {
  return std::make_exception_ptr(detail::partial_element(recv.what, recv.found, where_.members().rank(),
                                                         where_.ep().current_call().location()));
}

std::exception_ptr message_queue::too_long(const posted_recv& recv) const {
  truncation_error e(
      recv.what.operation, where_.members().rank(), "recv_count",
      sent(recv.found) + ", but this rank has space for " + std::to_string(recv.what.capacity),
      "receive it with the count that is sent, or without a count, so that the buffer is resized");
  e.locate(where_.ep().current_call().location());
  return std::make_exception_ptr(e);
}

// Whether the message can be received, and to where. Otherwise the receive keeps the error.
inline message_queue::verdict message_queue::judge(posted_recv& recv, const detail::envelope& found,
                                                   void*& into) const {
  const detail::recv_args& r = recv.what;
  recv.found = found;
  into = r.into;
  if (r.element > 1 && found.bytes % r.element != 0) [[unlikely]] {
    recv.failure = partial_element(recv);
  } else if (found.bytes > r.capacity && (r.allocate == nullptr || r.capacity != 0)) [[unlikely]] {
    recv.failure = too_long(recv);
    return verdict::discarded;
  } else if (r.allocate != nullptr) {
    try {
      into = r.allocate(r.state, recv.found);
    } catch (const error&) {
      recv.failure = std::current_exception();
    } catch (...) {  // the resize of a container: the sender must not wait for another receive
      recv.failure = std::current_exception();
      return verdict::discarded;
    }
  }
  return recv.failure ? verdict::rejected : verdict::accepted;
}

inline void message_queue::receive(posted_recv& recv, shm::unexpected_message& one, void* into) {
  if (transport_->receive_contents(one, into, recv.moving, recv.what.operation)) {
    end(recv);
  } else {
    recv.current = posted_recv::state::transferring;
    ++in_progress_;
  }
}

// Returns true if the message is consumed: it was received or discarded. A rejected message stays.
bool message_queue::offer(posted_recv& recv, shm::unexpected_message& one) {
  void* into = nullptr;
  switch (judge(recv, {one.source, one.tag, one.bytes}, into)) {
    case verdict::accepted:
      receive(recv, one, into);
      return true;
    case verdict::discarded:
      transport_->drop(one, p2p_transport::dropped::received);
      end(recv);
      return true;
    default:
      end(recv);
      return false;
  }
}

void message_queue::deliver(shm::unexpected_message& one) {
  try {
    for (posted_recv* recv = first_; recv != nullptr;) {
      posted_recv* const next = recv->next;
      if (recv->current == posted_recv::state::waiting && matches(recv->what, one) && offer(*recv, one))
        return;
      recv = next;
    }
  } catch (...) {
    add_unexpected(one);
    throw;
  }
  add_unexpected(one);
}

void message_queue::process_arrivals(const posted_recv* until) {
  if (in_progress_ != 0) progress_receives();
  if (shared_) [[unlikely]]
    return fetch_posted(until);
  while (until == nullptr || !until->over()) {
    shm::unexpected_message* const one = transport_->next("receiving");
    if (one == nullptr) return;
    one->sequence_number = ++arrived_;
    deliver(*one);
  }
}

posted_recv* message_queue::first_match(const detail::envelope& found) const noexcept {
  for (posted_recv* recv = first_; recv != nullptr; recv = recv->next)
    if (recv->current == posted_recv::state::waiting &&
        matches(recv->what.source, recv->what.tag, found.source, found.tag))
      return recv;
  return nullptr;
}

// Offers each receive the first arrived message that matches it. If an earlier receive matches too,
// the message has arrived since that receive was examined, and the earlier one is examined again.
// So a message goes to the first receive that matches it, and a receive gets the first of its
// messages.
void message_queue::fetch_posted(const posted_recv* until) {
  for (posted_recv* recv = first_; recv != nullptr && (until == nullptr || !until->over());) {
    detail::envelope found;
    if (recv->current != posted_recv::state::waiting ||
        !transport_->iprobe(recv->what.source, recv->what.tag, found, recv->what.operation)) {
      recv = recv->next;
      continue;
    }
    if (posted_recv* const earlier = first_match(found); earlier != recv) {
      recv = earlier;
      continue;
    }
    void* into = nullptr;
    const verdict decision = judge(*recv, found, into);
    if (decision == verdict::rejected) {
      end(*recv);
    } else if (shm::unexpected_message* const one = transport_->improbe(found, recv->what.operation)) {
      one->sequence_number = ++arrived_;
      if (decision == verdict::accepted) {
        receive(*recv, *one, into);
      } else {
        transport_->drop(*one, p2p_transport::dropped::received);
        end(*recv);
      }
    } else {
      recv->failure = nullptr;  // a receive of another thread has it
    }
    recv = first_;
  }
  post_to_engine();
}

void message_queue::begin(posted_recv& recv) {
  recv.failure = nullptr;
  recv.found = {};
  link(recv);
  try {
    if (recv.what.matched != nullptr) {
      offer(recv, *reinterpret_cast<shm::unexpected_message*>(recv.what.matched));
      return;
    }
    if (shm::unexpected_message* const one = find_unexpected(recv.what.source, recv.what.tag)) {
      remove_unexpected(*one);
      deliver(*one);  // to this one: it would not be unexpected if others matched it
    }
    if (recv.current == posted_recv::state::waiting) process_arrivals(&recv);
  } catch (...) {
    cancel(recv);
    throw;
  }
}

void message_queue::cancel(posted_recv& recv) noexcept {
  if (recv.over()) return;
  if (recv.current != posted_recv::state::waiting) transport_->end_receive(recv.moving);
  end(recv);
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
  if (const shm::unexpected_message* const one = find_unexpected(source, tag)) {
    found = {one->source, one->tag, one->bytes};
    return true;
  }
  if (!shared_) [[likely]]
    return false;
  detail::envelope what;
  if (!transport_->iprobe(source, tag, what, operation) || first_match(what) != nullptr) return false;
  found = what;
  return true;
}

shm::unexpected_message* message_queue::extract(const detail::envelope& found, const char* operation) {
  shm::unexpected_message* one = find_unexpected(found.source, found.tag);
  if (one != nullptr) {
    remove_unexpected(*one);
  } else if (shared_) {
    one = transport_->improbe(found, operation);
    if (one != nullptr) one->sequence_number = ++arrived_;
  }
  return one;
}

// --- with the engine

void message_queue::progress_receives() {
  for (posted_recv* recv = first_; recv != nullptr;) {
    posted_recv* const next = recv->next;
    if (recv->current == posted_recv::state::transferring) {
      if (transport_->contents_received(recv->moving, site_of(recv->what))) end(*recv);
    } else if (recv->current == posted_recv::state::at_engine &&
               transport_->irecv_done(recv->moving, recv->found, site_of(recv->what))) {
      if (recv->found.bytes > recv->what.capacity)
        recv->failure = too_long(*recv);
      else if (recv->found.bytes % recv->what.element != 0)
        recv->failure = partial_element(*recv);
      end(*recv);
    }
    recv = next;
  }
}

// For a shared communicator. The engine matches its own receives before those that stay here. So if
// an earlier receive stays, a receive that may match the same message must stay too.
void message_queue::post_to_engine() {
  for (posted_recv* recv = first_; recv != nullptr; recv = recv->next) {
    if (recv->current != posted_recv::state::waiting || recv->what.allocate != nullptr || !recv->nonblocking)
      continue;
    bool may_post = true;
    for (const posted_recv* earlier = first_; earlier != recv && may_post; earlier = earlier->next)
      may_post = earlier->current != posted_recv::state::waiting || !overlap(earlier->what, recv->what);
    if (!may_post || !transport_->try_irecv(recv->what, recv->moving)) continue;
    recv->current = posted_recv::state::at_engine;
    ++in_progress_;
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

}  // namespace tutti::detail
