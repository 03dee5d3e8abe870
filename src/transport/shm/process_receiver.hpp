// SPDX-License-Identifier: Apache-2.0
//
// The receiver's end of a channel between processes. process_channel.hpp describes the protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iterator>
#include <list>
#include <utility>
#include <vector>

#include "transport/shm/p2p_arrivals.hpp"
#include "transport/shm/process_channel.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/process_wakeup.hpp"

namespace tutti::shm {

/// Called once in a process, when the kernel refuses a read that it has permitted before.
class refusal_report {
 public:
  explicit refusal_report(std::function<void(int from, int error)> report = {})
      : report_(std::move(report)) {}
  void operator()(int from, int error) {
    if (!std::exchange(is_reported_, true) && report_) report_(from, error);
  }

 private:
  std::function<void(int, int)> report_;
  bool is_reported_ = false;
};

template <class M, class T = process_channel_traits>
class process_receiver {
 public:
  /// The receiver's knowledge of the sender's process.
  struct peer {
    int rank = 0;
    int pid = 0;  // in the receiver's namespace
    const std::byte* cells = nullptr;
    std::size_t cell_bytes = 0;
  };
  process_receiver(process_lines<T>& lines, const peer& from, const wakeup_words<M>& words,
                   refusal_report& refusals, std::uint32_t start = 0, p2p_arrivals* arrivals = nullptr)
      : lines_(&lines),
        from_(from),
        words_(&words),
        refusals_(&refusals),
        arrivals_(arrivals),
        next_(start) {}
  process_receiver(const process_receiver&) = delete;
  process_receiver& operator=(const process_receiver&) = delete;

  int from() const noexcept { return from_.rank; }
  /// Permits the sender messages by address. The caller has probed the permission.
  void permit_reads(bool permitted) { words_->publish(lines_->may_read, std::uint32_t{permitted}); }

  // --- Messages of at most one cell, without a request and without a copy
  /// The data of the next message, valid until consume(). Returns null if it has not arrived, has
  /// another tag or size, or travels in pieces. It also returns null if there are unexpected
  /// messages or started requests. Then the caller starts a request.
  const std::byte* find(std::uint64_t tag, std::size_t bytes) {
    if (closed_) [[unlikely]]
      return nullptr;
    process_slot& s = lines_->ring[next_ % T::slot_count];
    if (M::acquire(s.sequence) != next_ + 1) return nullptr;
    auto&& seen = M::view(s);
    if (seen.tag != tag || is_engaged()) [[unlikely]]
      return nullptr;
    if (seen.encoding == bytes && bytes <= T::inline_bytes) return s.payload;
    return seen.encoding == (whole_in_cell | bytes) ? cell(payload_of<std::uint32_t>(seen)) : nullptr;
  }
  void consume() {
    words_->publish(lines_->consumed, ++next_);
    words_->signal(from_.rank, wait_for_space);
  }

  // --- Messages of any length
  void start(recv_request& r) {
    r.received = r.skip = 0;
    r.state = recv_request::phase::posted;
    ++wanted_;
    for (auto at = unexpected_.begin(); at != unexpected_.end() && !closed_; ++at)
      if (at->tag == r.tag) return adopt(at, r);
    posted_.append(r);
    progress();
  }
  /// Continues all started requests as far as possible.
  void progress() {
    if (closed_) [[unlikely]]
      return;
    while (wanted_ != 0 && take_slot()) {
    }
  }
  // --- Messages of the program, which need no request
  /// Takes all that has arrived. Messages that have a request, or will get one, may precede them.
  void take_arrivals() {
    while (!closed_ && take_slot()) {
    }
  }
  /// Takes those that no other message precedes, and all of a full ring, whose sender may wait for
  /// space in a send that must not wait for this rank.
  void take_first_arrivals() {
    while (p2p_is_first() && !closed_ && take_slot()) {
    }
    if (is_full()) take_arrivals();
  }

  /// Whether started requests need progress().
  bool is_busy() const noexcept { return wanted_ != 0; }
  /// The job has failed. Forgets all requests, and completes no other one.
  void close() noexcept {
    closed_ = true;
    wanted_ = 0;
    posted_.clear();
    refused_.clear();
  }
  /// Whether a slot has arrived, or an unexpected message is kept.
  bool has_unread() const {
    return !unexpected_.empty() || M::acquire(lines_->ring[next_ % T::slot_count].sequence) == next_ + 1;
  }
  std::size_t unexpected_count() const noexcept { return unexpected_.size(); }

 private:
  struct unexpected_message {
    std::uint64_t tag;
    std::size_t bytes;
    std::vector<std::byte> copy;
    bool is_remote = false;
    remote_message remote{};
  };
  using unexpected_list = std::list<unexpected_message>;
  /// The message whose pieces are arriving. It goes to a request or to the arrivals, or becomes
  /// unexpected.
  struct assembly {
    bool active = false;
    recv_request* request = nullptr;
    p2p_arrival* p2p = nullptr;
    typename unexpected_list::iterator unexpected{};
    std::size_t bytes = 0, received = 0;
  };

  bool is_engaged() const noexcept { return wanted_ != 0 || current_.active || !unexpected_.empty(); }
  const std::byte* cell(std::uint32_t index) const noexcept { return from_.cells + index * from_.cell_bytes; }
  template <class P, class Slot>
  static P payload_of(const Slot& s) noexcept {
    P p;
    std::memcpy(&p, s.payload, sizeof p);
    return p;
  }

  bool is_full() const {
    const std::uint32_t last = next_ + T::slot_count - 1;
    return M::acquire(lines_->ring[last % T::slot_count].sequence) == last + 1;
  }
  bool p2p_is_first() const {
    if (current_.active) return current_.p2p != nullptr;
    const process_slot& s = lines_->ring[next_ % T::slot_count];
    return M::acquire(s.sequence) == next_ + 1 && is_p2p(M::view(s).tag);
  }
  // Takes the next slot, if it has arrived.
  bool take_slot() {
    process_slot& s = lines_->ring[next_ % T::slot_count];
    if (M::acquire(s.sequence) != next_ + 1) return false;
    auto&& seen = M::view(s);
    const std::size_t bytes = seen.encoding & bytes_mask;
    switch (seen.encoding & kind_mask) {
      case whole_inline:
        begin(seen, bytes);
        take_piece(s.payload, bytes);
        break;
      case whole_in_cell:
        begin(seen, bytes);
        take_piece(cell(payload_of<std::uint32_t>(seen)), bytes);
        break;
      case first_piece: {
        const auto m = payload_of<long_message>(seen);
        begin(seen, m.bytes);
        if (m.piece_bytes != 0) take_piece(cell(m.cell), m.piece_bytes);
        break;
      }
      case piece_inline:
        take_piece(s.payload, bytes);
        break;
      case piece_in_cell:
        take_piece(cell(payload_of<std::uint32_t>(seen)), bytes);
        break;
      default:
        return take_address(seen.tag, payload_of<remote_message>(seen));
    }
    consume();
    return true;
  }
  bool take_address(std::uint64_t tag, const remote_message& m) {
    consume();
    if (recv_request* const r = match(tag); r != nullptr) {
      read(*r, m);
    } else {
      unexpected_.push_back({tag, m.bytes, {}, true, m});
    }
    return true;
  }

  recv_request* match(std::uint64_t tag) {
    return posted_.remove_if([tag](const recv_request& r) { return r.tag == tag; });
  }
  template <class Slot>
  void begin(const Slot& s, std::size_t bytes) {
    const std::uint64_t tag = s.tag;
    recv_request* const r =
        (s.encoding & is_replacement) != 0
            ? refused_.remove_if([tag](const recv_request& one) { return one.number == tag; })
            : match(tag);
    if (r == nullptr && is_p2p(tag) && arrivals_ != nullptr) {
      current_ = {true, nullptr, &arrivals_->begin(from_.rank, tag, bytes), {}, bytes, 0};
      return;
    }
    current_ = {true, r, nullptr, {}, bytes, 0};
    if (r != nullptr) {
      r->bytes = bytes;
      r->state = recv_request::phase::receiving;
    } else {
      unexpected_.push_back({tag, bytes, std::vector<std::byte>(bytes), false, {}});
      current_.unexpected = std::prev(unexpected_.end());
    }
  }
  void take_piece(const std::byte* piece, std::size_t bytes) {
    if (current_.request != nullptr) {
      deliver(*current_.request, current_.received, piece, bytes);
    } else if (current_.p2p != nullptr) {
      M::read(current_.p2p->data() + current_.received, piece, bytes);
    } else {
      M::read(current_.unexpected->copy.data() + current_.received, piece, bytes);
    }
    current_.received += bytes;
    if (current_.received < current_.bytes) return;
    current_.active = false;
    if (current_.p2p != nullptr) arrivals_->complete(*current_.p2p);
    if (current_.request != nullptr) complete(*current_.request);
  }
  void complete(recv_request& r) noexcept {
    r.state = recv_request::phase::complete;
    --wanted_;
  }
  // Gives a piece to the request, without what it has already got or has no space for.
  static void deliver(recv_request& r, std::size_t offset, const std::byte* piece, std::size_t bytes) {
    const std::size_t begin = std::max(offset, r.skip), end = std::min(offset + bytes, r.capacity);
    if (begin >= end) return;
    piece += begin - offset;
    if (r.take != nullptr) {
      r.take(r.context, begin, piece, end - begin);
    } else {
      M::read(r.target + begin, piece, end - begin);
    }
  }

  // A request finds its message among the unexpected ones.
  void adopt(typename unexpected_list::iterator at, recv_request& r) {
    r.bytes = at->bytes;
    r.state = recv_request::phase::receiving;
    if (at->is_remote) {
      const remote_message m = at->remote;
      unexpected_.erase(at);
      read(r, m);
    } else if (current_.active && current_.request == nullptr && current_.p2p == nullptr &&
               current_.unexpected == at) {
      deliver(r, 0, at->copy.data(), current_.received);
      unexpected_.erase(at);
      current_.request = &r;
    } else {
      deliver(r, 0, at->copy.data(), at->bytes);
      unexpected_.erase(at);
      complete(r);
    }
    progress();
  }

  void read(recv_request& r, const remote_message& m) {
    r.bytes = m.bytes;
    r.state = recv_request::phase::receiving;
    int error = 0;
    switch (r.take != nullptr ? read_pieces(r, m, error)
                              : M::read_remote(from_.pid, r.target, m.address,
                                               std::min<std::size_t>(m.bytes, r.capacity), error)) {
      case remote_read::complete:
        acknowledge(m.number, false);
        return complete(r);
      case remote_read::refused:
        refusals_->operator()(from_.rank, error);
        permit_reads(false);
        r.number = m.number;
        refused_.append(r);
        return acknowledge(m.number, true);
      case remote_read::gone:
        return;  // process_waiter::check() reports it
    }
  }
  remote_read read_pieces(recv_request& r, const remote_message& m, int& error) {
    scratch_.resize(std::min<std::size_t>(scratch_bytes, m.bytes));
    const std::size_t end = std::min<std::size_t>(m.bytes, r.capacity);
    for (std::size_t offset = 0; offset < end; offset = r.skip) {
      const std::size_t n = std::min(end - offset, scratch_bytes);
      const remote_read got = M::read_remote(from_.pid, scratch_.data(), m.address + offset, n, error);
      if (got != remote_read::complete) return got;
      r.take(r.context, offset, scratch_.data(), n);
      r.skip = offset + n;
    }
    return remote_read::complete;
  }
  void acknowledge(std::uint32_t number, bool refused) {
    words_->publish(lines_->acknowledged[number % T::rendezvous_count], acknowledgement_of(number, refused));
    words_->signal(from_.rank, wait_for_space);
  }

  static constexpr std::size_t scratch_bytes = 32768;  // stays in the first-level cache

  process_lines<T>* lines_;
  peer from_;
  const wakeup_words<M>* words_;
  refusal_report* refusals_;
  p2p_arrivals* arrivals_;  // null: messages of the program are as all others
  std::uint32_t next_;
  std::uint32_t wanted_ = 0;  // requests that are started and not complete
  bool closed_ = false;
  request_list<recv_request> posted_, refused_;
  assembly current_;
  unexpected_list unexpected_;
  std::vector<std::byte> scratch_;
};

}  // namespace tutti::shm
