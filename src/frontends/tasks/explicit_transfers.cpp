// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/explicit_transfers.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "communicator/internal_calls.hpp"

namespace tutti::tasks {

// --- the table

explicit_transfer_node& explicit_transfers::make(const explicit_transfer& t, bool sends) {
  data_handle& d = *t.what;
  if (d.here == nullptr) replicas_.make_contents(d, true);
  if (sends) {
    auto& node = with_.ready.make<explicit_transfer_node>(*this, t, *d.here, true);
    replicas_.read_here(d, node);
    return node;
  }
  const bool in_place = d.fixed;
  if (!in_place) {
    // A message may be shorter than the data: the rest is zero.
    contents& fresh = replicas_.replace_here(d);
    fresh.use_block(block::make(d.bytes));
    std::memset(fresh.data, 0, d.bytes);
    d.fixed = d.home == with_.rank;
  }
  auto& node = with_.ready.make<explicit_transfer_node>(*this, t, *d.here, false);
  if (in_place) replicas_.wait_for_users(d, node);
  replicas_.set_writer(d, node);
  d.readable = true;
  if (d.home == with_.rank) replicas_.forget_remote(d);
  return node;
}

void explicit_transfers::handle(std::unique_ptr<arrival> a) {
  const auto one =
      std::find_if(posted_.begin(), posted_.end(), [&](const auto* p) { return p->matches(*a); });
  if (one == posted_.end()) {
    unexpected_.push_back(std::move(a));
    if (closed_) refuse_unexpected();
    return;
  }
  explicit_transfer_node& node = **one;
  posted_.erase(one);
  node.arrived(std::move(a));
}

void explicit_transfers::post(explicit_transfer_node& one) {
  const auto a =
      std::find_if(unexpected_.begin(), unexpected_.end(), [&](const auto& u) { return one.matches(*u); });
  if (a == unexpected_.end()) return posted_.push_back(&one);
  std::unique_ptr<arrival> message = std::move(*a);
  unexpected_.erase(a);
  one.arrived(std::move(message));
}

bool explicit_transfers::poll_all() {
  bool moved = false;
  for (std::size_t i = 0; i < elsewhere_.size();)
    if (elsewhere_[i]->poll()) {
      elsewhere_.erase(elsewhere_.begin() + static_cast<std::ptrdiff_t>(i));
      moved = true;
    } else {
      ++i;
    }
  return moved;
}

void explicit_transfers::close() {
  closed_ = true;
  refuse_unexpected();
}

// The senders of short messages do not wait.
void explicit_transfers::refuse_unexpected() const {
  for (const auto& a : unexpected_)
    if (a->what.with != 0)
      throw mismatch_error("tasks", with_.rank, "",
                           "rank " + std::to_string(a->from) + " sent a message with tag " +
                               std::to_string(a->what.id) +
                               " that this rank has not received at the end of its runtime",
                           "match every send with a receive of the same tag");
}

bool explicit_transfers::awaits(int rank) const noexcept {
  return std::any_of(posted_.begin(), posted_.end(),
                     [&](const auto* one) { return one->receives_from(rank); });
}

void explicit_transfers::give_up(const std::vector<bool>& ended) {
  const auto is_lost = [&](const explicit_transfer_node& one) {
    if (one.receives_from(with_.rank)) return false;
    for (int r = 0; r < with_.size; ++r)
      if (one.receives_from(r) && !ended[static_cast<std::size_t>(r)]) return false;
    return true;
  };
  for (std::size_t i = 0; i < posted_.size();) {
    explicit_transfer_node& one = *posted_[i];
    if (!is_lost(one)) {
      ++i;
      continue;
    }
    posted_.erase(posted_.begin() + static_cast<std::ptrdiff_t>(i));
    one.give_up(std::make_exception_ptr(
        mismatch_error("tasks", with_.rank, "",
                       "this rank waits for " + one.what() +
                           ", but every rank that could send it has reached the end of its runtime",
                       "match every receive with a send of the same tag")));
  }
}

void explicit_transfers::count_elsewhere(detail::communicator_impl& where, int peer,
                                         std::size_t bytes) noexcept {
  try {
    const int r = detail::translate(where, peer, *ranks_);
    if (r >= 0 && r < with_.size) with_.sender.count(r, bytes);
  } catch (...) {
    // The statistics omit peers that are no ranks of the runtime.
  }
}

// --- a transfer

explicit_transfer_node::explicit_transfer_node(explicit_transfers& of, const explicit_transfer& t,
                                               contents& at, bool sends)
    : node(false),
      of_(of),
      with_(of.services()),
      at_(at),
      bytes_(t.what->bytes),
      peer_(t.peer),
      tag_(t.tag),
      where_(t.where),
      sends_(sends) {
  at.keep();
}

bool explicit_transfer_node::matches(const arrival& a) const noexcept {
  return receives_from(a.from) && (tag_ == tags::any || tag_ == a.what.id);
}

std::string explicit_transfer_node::what() const {
  return std::string(sends_ ? "a send to rank " : "a message from ") +
         (peer_ == rank::any ? "any rank" : (sends_ ? "" : "rank ") + std::to_string(peer_)) + ", tag " +
         (tag_ == tags::any ? "any" : std::to_string(tag_));
}

void explicit_transfer_node::go(ready_queue&) {
  began_ = with_.trace_time();
  if (where_ != nullptr && begin_elsewhere()) return of_.poll_later(*this);
  if (sends_)
    send();
  else
    of_.post(*this);
}

bool explicit_transfer_node::begin_elsewhere() {
  if (sends_ && at_.poisoned == nullptr) {
    elsewhere_ = detail::start_send(
        *where_,
        {.operation = "isend", .destination = peer_, .tag = tag_, .data = at_.data, .bytes = bytes_});
    of_.count_elsewhere(*where_, peer_, bytes_);
  } else if (!sends_) {
    elsewhere_ = detail::start_receive(
        *where_, {.operation = "irecv", .source = peer_, .tag = tag_, .into = at_.data, .most = bytes_});
  }
  return static_cast<bool>(elsewhere_);
}

void explicit_transfer_node::send() {
  head what;
  what.kind = message_kind::explicit_transfer;
  what.id = tag_;
  if (at_.poisoned != nullptr) {
    fail_with(error_of(*at_.poisoned, "isend", with_.rank));
    if (where_ == nullptr) with_.sender.send_failure(peer_, what, *at_.poisoned);
    return finish();
  }
  what.origin = with_.rank;
  with_.sender.count(peer_, bytes_);
  if (peer_ == with_.rank) {  // no receive of this rank progresses while this rank waits in send()
    block* const copy = block::make(bytes_);
    if (bytes_ != 0) std::memcpy(copy->data(), at_.data, bytes_);
    with_.messages().send(peer_, what, copy->data(), bytes_, {}, nullptr, copy);
    copy->drop();
    return finish();
  }
  if (with_.messages().send(peer_, what, at_.data, bytes_, {}, this, at_.in)) finish();
}

void explicit_transfer_node::arrived(std::unique_ptr<arrival> a) {
  arrival_ = std::move(a);
  const head& what = arrival_->what;
  found_ = {arrival_->from, static_cast<int>(what.id), what.bytes};
  if (what.poisoned != 0) {
    at_.poisoned =
        with_.failures.add_received(reinterpret_cast<const char*>(arrival_->in->data()), what.bytes);
    found_.bytes = 0;
    fail_with(error_of(*at_.poisoned, "irecv", with_.rank));
    return finish();
  }
  if (what.bytes > bytes_) {
    fail_with(std::make_exception_ptr(
        truncation_error("irecv", with_.rank, "handle",
                         "rank " + std::to_string(arrival_->from) + " sent " + std::to_string(what.bytes) +
                             " bytes, but the data handle has " + std::to_string(bytes_),
                         "create the data handle with the same size on both ranks")));
    if (what.with == 0) return finish();
    truncated_ = block::make(what.bytes);
    return with_.messages().receive(*arrival_, truncated_->data(), *this);
  }
  if (what.with != 0) return with_.messages().receive(*arrival_, at_.data, *this);
  if (what.bytes != 0) std::memcpy(at_.data, arrival_->in->data(), what.bytes);
  at_.poisoned = nullptr;
  finish();
}

void explicit_transfer_node::received() {
  if (truncated_ != nullptr)
    std::exchange(truncated_, nullptr)->drop();
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
    with_.failures.note_error(std::move(e));
}

void explicit_transfer_node::finish() {
  with_.trace_transfer(sends_, began_, sends_ ? peer_ : found_.source, bytes_);
  with_.ready.complete(*this);
}

void explicit_transfer_node::end() noexcept {
  if (request != nullptr) {
    request->over = true;
    request->found = found_;
    request->error = error_;
  }
  if (group != nullptr) of_.complete(*group);
}

}  // namespace tutti::tasks
