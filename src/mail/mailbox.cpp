// SPDX-License-Identifier: Apache-2.0
#include "mail/mailbox.hpp"

#include <string>
#include <utility>

#include "tutti/core/error.hpp"

namespace tutti {
namespace {

bool fits(int source, int tag, int source_of_message, int tag_of_message) noexcept {
  return (source == rank::any || source == source_of_message) && (tag == tags::any || tag == tag_of_message);
}
bool fits(const detail::reception& r, const fabric::parcel& one) noexcept {
  return fits(r.source, r.tag, one.source, one.tag);
}
// Whether one message could be both's.
bool meet(const detail::reception& a, const detail::reception& b) noexcept {
  return (a.source == rank::any || b.source == rank::any || a.source == b.source) &&
         (a.tag == tags::any || b.tag == tags::any || a.tag == b.tag);
}

std::string sent(const detail::envelope& e) {
  return "rank " + std::to_string(e.source) + " sent " + std::to_string(e.bytes) + " bytes";
}

}  // namespace

mailbox::mailbox(context& where, std::unique_ptr<carrier> by)
    : where_(where),
      by_(std::move(by)),
      greatest_tag_(by_->greatest_tag()),
      restless_(where.door().restless()),
      shared_(by_->shared()) {}

mailbox::~mailbox() {
  while (first_ != nullptr) give_up(*first_);
  while (fabric::parcel* one = oldest_) {
    take_out(*one);
    by_->drop(*one, false);
  }
}

// --- the lists
// ------------------------------------------------------------------------------------------------

void mailbox::link(want& w) noexcept {
  w.before = last_;
  w.behind = nullptr;
  (last_ != nullptr ? last_->behind : first_) = &w;
  last_ = &w;
  w.now = want::state::waits;
}

void mailbox::end(want& w) noexcept {
  if (w.now != want::state::waits) --looked_after_;
  (w.before != nullptr ? w.before->behind : first_) = w.behind;
  (w.behind != nullptr ? w.behind->before : last_) = w.before;
  w.now = want::state::over;
  ++moves_;
}

// In the order of arrival: nearly always the last.
void mailbox::keep(fabric::parcel& one) noexcept {
  fabric::parcel* after = newest_;
  while (after != nullptr && after->number > one.number) after = after->before;
  one.before = after;
  one.behind = after != nullptr ? after->behind : oldest_;
  (after != nullptr ? after->behind : oldest_) = &one;
  (one.behind != nullptr ? one.behind->before : newest_) = &one;
}

void mailbox::take_out(fabric::parcel& one) noexcept {
  (one.before != nullptr ? one.before->behind : oldest_) = one.behind;
  (one.behind != nullptr ? one.behind->before : newest_) = one.before;
}

fabric::parcel* mailbox::kept(int source, int tag) const noexcept {
  fabric::parcel* one = oldest_;
  while (one != nullptr && !fits(source, tag, one->source, one->tag)) one = one->behind;
  return one;
}

// --- messages to receives
// -------------------------------------------------------------------------------------

std::exception_ptr mailbox::broken_elements(const want& w) const {
  mismatch_error e(w.what.operation, where_.members().rank(), "recv_buf",
                   sent(w.found) + ", which are no whole number of elements of " +
                       std::to_string(w.what.element) + " bytes",
                   "receive it with the element type that it was sent with");
  e.locate(where_.door().place());
  return std::make_exception_ptr(e);
}

std::exception_ptr mailbox::too_long(const want& w) const {
  truncation_error e(
      w.what.operation, where_.members().rank(), "recv_count",
      sent(w.found) + " where this rank has room for " + std::to_string(w.what.most),
      "receive it with the count that it is sent with, or without one and the buffer is made to fit");
  e.locate(where_.door().place());
  return std::make_exception_ptr(e);
}

// Whether it can be received, and where it goes. Else the want says why not.
inline mailbox::verdict mailbox::judge(want& w, const detail::envelope& found, void*& into) const {
  const detail::reception& r = w.what;
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

inline void mailbox::receive(want& w, fabric::parcel& one, void* into) {
  if (by_->open(one, into, w.moving, w.what.operation)) {
    end(w);
  } else {
    w.now = want::state::moves;
    ++looked_after_;
  }
}

// True where the message is used up: it was received, or was too long. One that is refused stays as it was.
bool mailbox::offer(want& w, fabric::parcel& one) {
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

void mailbox::deliver(fabric::parcel& one) {
  try {
    for (want* w = first_; w != nullptr;) {
      want* const behind = w->behind;
      if (w->now == want::state::waits && fits(w->what, one) && offer(*w, one)) return;
      w = behind;
    }
  } catch (...) {
    keep(one);
    throw;
  }
  keep(one);
}

void mailbox::take_in(const want* until) {
  if (looked_after_ != 0) look_after();
  if (shared_) [[unlikely]]
    return take_wanted(until);
  while (until == nullptr || !until->over()) {
    fabric::parcel* const one = by_->next("receiving");
    if (one == nullptr) return;
    one->number = ++came_;
    deliver(*one);
  }
}

want* mailbox::first_for(const detail::envelope& found) const noexcept {
  for (want* w = first_; w != nullptr; w = w->behind)
    if (w->now == want::state::waits && fits(w->what.source, w->what.tag, found.source, found.tag)) return w;
  return nullptr;
}

// Of the messages that have come each receive is shown the first that it could take. Where an earlier receive
// could take that too, it has come since that one was asked, and the earlier one is asked again. So a message
// goes to the first receive that could take it, and a receive gets the first of its messages.
void mailbox::take_wanted(const want* until) {
  for (want* w = first_; w != nullptr && (until == nullptr || !until->over());) {
    detail::envelope found;
    if (w->now != want::state::waits || !by_->peek(w->what.source, w->what.tag, found, w->what.operation)) {
      w = w->behind;
      continue;
    }
    if (want* const earlier = first_for(found); earlier != w) {
      w = earlier;
      continue;
    }
    void* into = nullptr;
    const verdict answer = judge(*w, found, into);
    if (answer == verdict::refused) {
      end(*w);
    } else if (fabric::parcel* const one = by_->fetch(found, w->what.operation)) {
      one->number = ++came_;
      if (answer == verdict::fits) {
        receive(*w, *one, into);
      } else {
        by_->drop(*one, true);
        end(*w);
      }
    } else {
      w->refusal = nullptr;  // another thread's receive has it
    }
    w = first_;
  }
  give_to_engine();
}

void mailbox::begin(want& w) {
  w.refusal = nullptr;
  w.found = {};
  link(w);
  try {
    if (w.what.letter != nullptr) {
      offer(w, *reinterpret_cast<fabric::parcel*>(w.what.letter));
      return;
    }
    if (fabric::parcel* const one = kept(w.what.source, w.what.tag)) {
      take_out(*one);
      deliver(*one);  // to this one: it would not be kept if others wanted it
    }
    if (w.now == want::state::waits) take_in(&w);
  } catch (...) {
    give_up(w);
    throw;
  }
}

void mailbox::give_up(want& w) noexcept {
  if (w.over()) return;
  if (w.now == want::state::engines) by_->withdraw(w.moving);
  end(w);
}

void mailbox::put_back(fabric::parcel& one) noexcept {
  try {
    deliver(one);
  } catch (...) {
    // It is kept; that the job is failing is told by the next wait.
  }
}

// --- messages, past receives
// ----------------------------------------------------------------------------------

bool mailbox::find(int source, int tag, detail::envelope& found, const char* operation) {
  if (const fabric::parcel* const one = kept(source, tag)) {
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

fabric::parcel* mailbox::take_out(const detail::envelope& found, const char* operation) {
  fabric::parcel* one = kept(found.source, found.tag);
  if (one != nullptr) {
    take_out(*one);
  } else if (shared_) {
    one = by_->fetch(found, operation);
    if (one != nullptr) one->number = ++came_;
  }
  return one;
}

// --- with the engine
// -----------------------------------------------------------------------------------------

void mailbox::look_after() {
  for (want* w = first_; w != nullptr;) {
    want* const behind = w->behind;
    if (w->now == want::state::moves) {
      if (by_->opened(w->moving, site_of(w->what))) end(*w);
    } else if (w->now == want::state::engines && by_->came(w->moving, w->found, site_of(w->what))) {
      if (w->found.bytes > w->what.most)
        w->refusal = too_long(*w);
      else if (w->found.bytes % w->what.element != 0)
        w->refusal = broken_elements(*w);
      end(*w);
    }
    w = behind;
  }
}

// Where the communicator is shared. The engine would give a message to those that it was given before those
// that stay, so one that meets an earlier one that stays must stay too.
void mailbox::give_to_engine() {
  for (want* w = first_; w != nullptr; w = w->behind) {
    if (w->now != want::state::waits || w->what.room != nullptr || !w->lasts) continue;
    bool free = true;
    for (const want* earlier = first_; earlier != w && free; earlier = earlier->behind)
      free = earlier->now != want::state::waits || !meet(earlier->what, w->what);
    if (!free || !by_->take_over(w->what, w->moving)) continue;
    w->now = want::state::engines;
    ++looked_after_;
  }
}

// --- for reports
// ---------------------------------------------------------------------------------------------

fabric::wait_site mailbox::site_of(const char* operation, const char* what, int peer,
                                   int tag) const noexcept {
  return {
      operation, "", what, peer < 0 ? -1 : where_.members().address(peer), -1, fabric::wait_site::unnumbered,
      tag};
}

fabric::wait_site mailbox::site_of(const detail::reception& r) const noexcept {
  return site_of(r.operation, r.source < 0 ? "a message from any rank" : "a message from", r.source, r.tag);
}

fabric::wait_site mailbox::site(const char*, int) const noexcept {
  return first_ != nullptr ? site_of(first_->what) : site_of("receiving", "a message", -1, -1);
}

}  // namespace tutti
