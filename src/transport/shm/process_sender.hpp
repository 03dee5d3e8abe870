// SPDX-License-Identifier: Apache-2.0
//
// The sender's end of a channel between processes. process_channel.hpp describes the protocol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transport/shm/cell_pool.hpp"
#include "transport/shm/p2p_arrivals.hpp"
#include "transport/shm/process_channel.hpp"
#include "transport/shm/process_wakeup.hpp"

namespace tutti::shm {

template <class M, class T = process_channel_traits>
class process_sender {
 public:
  using pool_type = cell_pool<process_sender>;

  /// `start`: the number at which the sequence starts, also at the receiver.
  process_sender(process_lines<T>& lines, pool_type& pool, const wakeup_words<M>& words, int to,
                 std::uint32_t start = 0)
      : lines_(&lines), pool_(&pool), words_(&words), to_(to), sent_(start), consumed_(start) {
    rendezvous_ = start + 1;
    pool.add(*this);
  }
  process_sender(const process_sender&) = delete;
  process_sender& operator=(const process_sender&) = delete;

  int to() const noexcept { return to_; }
  /// Messages with more bytes travel by address if the receiver may read this process.
  void set_by_address_above(std::size_t bytes) noexcept { by_address_above_ = bytes; }

  // --- Messages of at most one cell, without a request
  /// Returns false if it would have to wait, or if requests precede the message.
  bool post(std::uint64_t tag, const void* data, std::size_t bytes) {
    if (!queue_.empty() || closed_ || !has_space()) [[unlikely]]
      return false;
    if (bytes <= T::inline_bytes) {
      fill_and_publish(whole_inline | static_cast<std::uint32_t>(bytes), tag, data, bytes);
      return true;
    }
    return bytes <= pool_->cell_bytes() && post_in_cell(0, tag, data, bytes);
  }

  // --- Messages of any length
  void start(send_request& r) {
    r.sent = 0;
    r.replaces = false;
    r.state = send_request::phase::queued;
    queue_.append(r);
    progress();
  }
  /// Continues all started messages as far as possible.
  void progress() {
    if (closed_) [[unlikely]]
      return;
    if (awaited_ != 0) collect_acknowledgements();
    while (!queue_.empty() && advance(*queue_.first())) queue_.remove_first();
  }
  /// Whether started messages need progress().
  bool is_busy() const noexcept { return awaited_ != 0 || !queue_.empty(); }
  /// The job has failed. Forgets all requests, and completes no other one.
  void close() noexcept {
    closed_ = true;
    queue_.clear();
    awaited_ = 0;
  }

  // --- For the pool
  std::uint32_t held() const noexcept { return held_; }
  void collect_consumed() {
    const std::uint32_t consumed = M::acquire(lines_->consumed);
    for (; held_ != 0 && consumed_ != consumed; ++consumed_) {
      std::uint32_t& cell = cell_of_[consumed_ % T::slot_count];
      if (cell == 0) continue;
      pool_->put(cell - 1);
      cell = 0;
      --held_;
    }
    consumed_ = consumed;
  }

 private:
  bool has_space() {
    if (sent_ - consumed_ < T::slot_count) return true;
    collect_consumed();
    return sent_ - consumed_ < T::slot_count;
  }
  void fill_and_publish(std::uint32_t encoding, std::uint64_t tag, const void* payload, std::size_t bytes) {
    process_slot& s = lines_->ring[sent_ % T::slot_count];
    M::set(s.encoding, encoding);
    M::set(s.tag, tag);
    M::write(s.payload, payload, bytes);
    words_->publish(s.sequence, ++sent_);
    words_->signal(to_, wait_for_message);
  }
  void hold(std::uint32_t cell) noexcept {
    cell_of_[sent_ % T::slot_count] = cell + 1;
    ++held_;
  }
  bool post_in_cell(std::uint32_t flags, std::uint64_t tag, const void* data, std::size_t bytes) {
    const std::uint32_t cell = pool_->take(*this);
    if (cell == pool_type::none) return false;
    M::write(pool_->at(cell), data, bytes);
    hold(cell);
    fill_and_publish(whole_in_cell | flags | static_cast<std::uint32_t>(bytes), tag, &cell, sizeof cell);
    return true;
  }

  // Returns true if the request need not stay in the queue.
  bool advance(send_request& r) {
    if (r.state == send_request::phase::queued && !begin(r)) return false;
    if (r.state == send_request::phase::started && !send_pieces(r)) return false;
    return true;
  }
  bool begin(send_request& r) {
    if (!has_space()) return false;
    const std::uint32_t flags = r.replaces ? std::uint32_t{is_replacement} : 0;
    const std::uint64_t tag = r.replaces ? r.number : r.tag;
    if (r.bytes <= T::inline_bytes) {
      fill_and_publish(whole_inline | flags | static_cast<std::uint32_t>(r.bytes), tag, r.data, r.bytes);
      r.state = send_request::phase::complete;
      return true;
    }
    if (!r.replaces && !is_p2p(r.tag) && goes_by_address(r.bytes)) {
      post_address(r);
      return true;
    }
    if (r.bytes <= pool_->cell_bytes() && post_in_cell(flags, tag, r.data, r.bytes)) {
      r.state = send_request::phase::complete;
      return true;
    }
    const std::uint32_t cell = pool_->take(*this);
    if (cell == pool_type::none && waits_for_cell()) return false;
    long_message m{r.bytes, cell, 0};
    if (cell != pool_type::none) {
      m.piece_bytes = static_cast<std::uint32_t>(std::min(r.bytes, pool_->cell_bytes()));
      M::write(pool_->at(cell), r.data, m.piece_bytes);
      hold(cell);
    }
    r.sent = m.piece_bytes;
    r.state = send_request::phase::started;
    fill_and_publish(first_piece | flags, tag, &m, sizeof m);
    return true;
  }
  bool send_pieces(send_request& r) {
    while (r.sent < r.bytes) {
      if (!has_space()) return false;
      const std::uint32_t cell = pool_->take(*this);
      const std::byte* const from = r.data + r.sent;
      if (cell != pool_type::none) {
        const std::size_t n = std::min(r.bytes - r.sent, pool_->cell_bytes());
        M::write(pool_->at(cell), from, n);
        hold(cell);
        r.sent += n;
        fill_and_publish(piece_in_cell | static_cast<std::uint32_t>(n), 0, &cell, sizeof cell);
      } else if (waits_for_cell()) {
        return false;
      } else {
        const std::size_t n = std::min(r.bytes - r.sent, T::inline_bytes);
        r.sent += n;
        fill_and_publish(piece_inline | static_cast<std::uint32_t>(n), 0, from, n);
      }
    }
    r.state = send_request::phase::complete;
    return true;
  }
  // Whether the receiver returns a cell before it needs more of this channel.
  bool waits_for_cell() const noexcept { return held_ != 0 || !T::pieces_without_cells; }

  bool goes_by_address(std::size_t bytes) {
    return bytes > by_address_above_ && awaiting_[rendezvous_ % T::rendezvous_count] == nullptr &&
           M::acquire(lines_->may_read) != 0;
  }
  void post_address(send_request& r) {
    r.number = rendezvous_++;
    r.state = send_request::phase::awaiting;
    awaiting_[r.number % T::rendezvous_count] = &r;
    ++awaited_;
    const remote_message m{reinterpret_cast<std::uintptr_t>(r.data), r.bytes, r.number};
    fill_and_publish(by_address, r.tag, &m, sizeof m);
  }
  void collect_acknowledgements() {
    for (std::uint32_t i = 0; i < T::rendezvous_count; ++i) {
      send_request* const r = awaiting_[i];
      if (r == nullptr) continue;
      const std::uint32_t seen = M::acquire(lines_->acknowledged[i]);
      if (seen == acknowledgement_of(r->number, false)) {
        r->state = send_request::phase::complete;
      } else if (seen == acknowledgement_of(r->number, true)) {
        r->replaces = true;
        r->state = send_request::phase::queued;
        queue_.append(*r);
      } else {
        continue;
      }
      awaiting_[i] = nullptr;
      --awaited_;
    }
  }

  process_lines<T>* lines_;
  pool_type* pool_;
  const wakeup_words<M>* words_;
  int to_;
  std::uint32_t sent_, consumed_;
  std::uint32_t held_ = 0, awaited_ = 0, rendezvous_;
  bool closed_ = false;
  std::size_t by_address_above_ = ~std::size_t{0};
  request_list<send_request> queue_;
  std::uint32_t cell_of_[T::slot_count] = {};  // 1 + the cell of the slot, or 0
  send_request* awaiting_[T::rendezvous_count] = {};
};

}  // namespace tutti::shm
