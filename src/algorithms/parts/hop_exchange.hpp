// SPDX-License-Identifier: Apache-2.0
//
// Alltoall by hops of 2^d that never wrap around the ends. A block for a rank above travels up by
// the bits of its distance, the lowest first. A block for a rank below travels down in the same
// way. All blocks with the same bit travel in one message.
//
// Slot v of a rank holds the block in transit whose total distance is v. It has come from v mod 2^d
// ranks behind and has the rest ahead of it; neither leads beyond an end. So the slots of a message
// are runs of equal length at equal distances.
//
// Blocks of different lengths are in slots as wide as the longest block of all ranks, which the
// ranks compute first. Their messages have no gaps, and other messages with their lengths precede
// them.
#pragma once

#include <algorithm>

#include "schedule/builder.hpp"

namespace tutti::parts {

/// The words for blocks of different lengths. Word i is the length of slot i in scratch2, as
/// partition::spaced requires.
struct hop_words {
  int width;         ///< index of the width of a slot; it and the next two words are used
  int send_lengths;  ///< first word with the lengths of the slots that are sent
  int recv_lengths;  ///< first word with the lengths of the slots that are received
};

/// The blocks that travel in one direction.
class hop_stream {
 public:
  /// The beginning of its messages in scratch0 and scratch1, in slots.
  struct offsets {
    int sent = 0, received = 0;
  };

  /// `step` is 1 for upwards and -1 for downwards. A direction uses p - 1 blocks of scratch2. If
  /// `words` is null, all blocks have the same length.
  hop_stream(const shape& s, builder& b, int step, const hop_words* words)
      : b_(b),
        words_(words),
        step_(step),
        rank_(s.rank),
        behind_(step > 0 ? s.rank : s.size - 1 - s.rank),
        ahead_(s.size - 1 - behind_),
        slot0_(step > 0 ? -1 : s.size - 2) {}

  int slots_sent(int d) const { return runs_sent(d) * std::min(behind_ + 1, d); }
  int slots_received(int d) const { return runs_received(d) * length_received(d); }

  /// Loads the rank's own blocks. operand(index) is the block for a rank.
  template <class Operand>
  void load(Operand&& operand) {
    b_.loop(ahead_, [&] {
      const place own = operand(at(rank_ + step_, step_));
      if (words_ != nullptr) b_.measure(own, word(at(slot0_ + 1, 1)));
      b_.copy(own, slot(at(slot0_ + 1, 1), 1));
    });
  }

  void pack_lengths(int d, offsets o) {
    const int length = std::min(behind_ + 1, d);
    b_.loop(runs_sent(d), [&] {
      b_.copy(blocks(buffer::words, at(slot0_ + d, 2 * d), length),
              blocks(buffer::words, at(words_->send_lengths + o.sent, length), length));
    });
  }
  void exchange_lengths(int d, offsets o) {
    exchange(d, words(words_->send_lengths + o.sent, slots_sent(d)),
             words(words_->recv_lengths + o.received, slots_received(d)));
  }
  void pack(int d, offsets o) {
    const int length = std::min(behind_ + 1, d);
    for_each_run(runs_sent(d), length, [&](auto&& nth, int n) {
      b_.copy(slot(nth(slot0_ + d, 2 * d), n), send_slots(nth(o.sent, length), n));
    });
  }
  void exchange(int d, offsets o) {
    exchange(d, send_slots(index{o.sent}, slots_sent(d)), recv_slots(index{o.received}, slots_received(d)));
  }
  /// The first run has arrived at its destination. result(index) is the final place of a rank's
  /// block.
  template <class Result>
  void unpack(int d, offsets o, Result&& result) {
    const int length = length_received(d), remaining = runs_received(d) - 1;
    if (length == 0) return;
    b_.loop(length,
            [&] { b_.copy(recv_slots(at(o.received, 1), 1), result(at(rank_ - step_ * d, -step_))); });
    if (remaining == 0) return;
    const int first = o.received + length, target = slot0_ + 3 * d;
    if (words_ != nullptr)
      b_.loop(remaining, [&] {
        b_.copy(blocks(buffer::words, at(words_->recv_lengths + first, length), length),
                blocks(buffer::words, at(target, 2 * d), length));
      });
    for_each_run(remaining, length, [&](auto&& nth, int n) {
      b_.copy(recv_slots(nth(first, length), n), slot(nth(target, 2 * d), n));
    });
  }

 private:
  // Slots with bit d and any lower bits: v mod d ranks behind and the rest ahead, at this rank or
  // at the rank behind.
  int runs_sent(int d) const { return ahead_ < d ? 0 : (ahead_ - d) / d / 2 + 1; }
  int runs_received(int d) const { return behind_ < d ? 0 : ahead_ / d / 2 + 1; }
  int length_received(int d) const { return behind_ < d ? 0 : std::min(behind_ - d + 1, d); }

  place slot(index i, int n) const {
    return blocks(buffer::scratch2, i, n, words_ != nullptr ? partition::spaced : partition::uniform);
  }
  place send_slots(index i, int n) const {
    if (words_ == nullptr) return blocks(buffer::scratch0, i, n);
    return dense(buffer::scratch0, plus(i, words_->send_lengths), n, words_->send_lengths);
  }
  place recv_slots(index i, int n) const {
    if (words_ == nullptr) return blocks(buffer::scratch1, i, n);
    return dense(buffer::scratch1, plus(i, words_->recv_lengths), n, words_->recv_lengths);
  }

  void exchange(int d, place sent, place received) {
    if (sent.blocks > 0) b_.send(rank_ + step_ * d, sent);
    if (received.blocks > 0) b_.recv(rank_ - step_ * d, received);
  }

  // Calls body run by run, or slot by slot if lengths differ: body(nth, n) for n slots. nth(first,
  // distance) is the index in a sequence of runs that begins with `first`.
  template <class Body>
  void for_each_run(int runs, int length, Body&& body) {
    if (words_ == nullptr)
      b_.loop(runs, [&] { body([](int first, int distance) { return at(first, distance); }, length); });
    else if (runs == 1)
      b_.loop(length, [&] { body([](int first, int) { return at(first, 1); }, 1); });
    else
      b_.loop(runs, [&] {
        b_.loop(length, [&] {
          body([](int first, int distance) { return index{first, distance, 1, 0}; }, 1);
        });
      });
  }

  builder& b_;
  const hop_words* words_;
  int step_, rank_;
  int behind_, ahead_;  // number of ranks
  int slot0_;           // index of slot 0, which does not exist
};

/// Both directions.
class hop_exchange {
 public:
  hop_exchange(const shape& s, builder& b) : hop_exchange(s, b, s.what != collective::alltoall) {}

  /// operand(index) is the block for a rank, result(index) the block from a rank.
  template <class Operand, class Result>
  void write(Operand&& operand, Result&& result) {
    if (!s_.in_place) b_.copy(operand(index{s_.rank}), result(index{s_.rank}));
    if (s_.size == 1) return;
    if (varying_lengths_) {
      b_.words(words_.recv_lengths + received_, words_.width);
      compute_max_length(operand);
      b_.reserve(blocks(buffer::scratch2, 0, words_.width, partition::padded));
    } else {
      b_.scratch(buffer::scratch0, sent_);
      b_.scratch(buffer::scratch1, received_);
      b_.scratch(buffer::scratch2, words_.width);
    }
    up_.load(operand);
    down_.load(operand);
    for_each_hop([&](int d) {
      const hop_stream::offsets first{}, second{up_.slots_sent(d), up_.slots_received(d)};
      if (varying_lengths_) exchange_all_lengths(d, first, second);
      up_.pack(d, first);
      down_.pack(d, second);
      up_.exchange(d, first);
      down_.exchange(d, second);
      up_.unpack(d, first, result);
      down_.unpack(d, second, result);
    });
  }

 private:
  hop_exchange(const shape& s, builder& b, bool varying_lengths)
      : s_(s),
        b_(b),
        varying_lengths_(varying_lengths),
        up_(s, b, 1, varying_lengths ? &words_ : nullptr),
        down_(s, b, -1, varying_lengths ? &words_ : nullptr) {
    for_each_hop([&](int d) {
      sent_ = std::max(sent_, up_.slots_sent(d) + down_.slots_sent(d));
      received_ = std::max(received_, up_.slots_received(d) + down_.slots_received(d));
    });
    words_.width = 2 * (s.size - 1);
    words_.send_lengths = words_.width + 3;
    words_.recv_lengths = words_.send_lengths + sent_;
  }
  hop_exchange(const hop_exchange&) = delete;  // the streams refer to words_

  template <class Body>
  void for_each_hop(Body&& body) const {
    for (long long d = 1; d < s_.size; d *= 2) body(static_cast<int>(d));
  }

  // Each rank learns the maximum over all ranks less than 2^d away on both sides, for increasing d.
  template <class Operand>
  void compute_max_length(Operand&& operand) {
    const int r = s_.rank, width = words_.width;
    const auto update_max = [&](int w) { b_.maximum(word(width), word(w), word(width)); };
    b_.loop(s_.size, [&] {
      b_.measure(operand(at(0, 1)), word(width + 1));
      update_max(width + 1);
    });
    for_each_hop([&](int d) {
      const bool below = r - d >= 0, above = r + d < s_.size;
      if (above) b_.send(r + d, word(width));
      if (below) b_.send(r - d, word(width));
      if (below) b_.recv(r - d, word(width + 1));
      if (above) b_.recv(r + d, word(width + 2));
      if (below) update_max(width + 1);
      if (above) update_max(width + 2);
      b_.round();
    });
  }

  void exchange_all_lengths(int d, hop_stream::offsets first, hop_stream::offsets second) {
    up_.pack_lengths(d, first);
    down_.pack_lengths(d, second);
    b_.round();
    up_.exchange_lengths(d, first);
    down_.exchange_lengths(d, second);
    const int sent = second.sent + down_.slots_sent(d), received = second.received + down_.slots_received(d);
    b_.reserve(dense(buffer::scratch0, words_.send_lengths, sent, words_.send_lengths));
    b_.reserve(dense(buffer::scratch1, words_.recv_lengths, received, words_.recv_lengths));
  }

  const shape& s_;
  builder& b_;
  bool varying_lengths_;
  hop_words words_{};
  hop_stream up_, down_;
  int sent_ = 0, received_ = 0;  // maximum number of slots in a round
};

}  // namespace tutti::parts
