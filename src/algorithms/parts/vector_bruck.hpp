// SPDX-License-Identifier: Apache-2.0
//
// Bruck's alltoall for blocks of any lengths. Slot d initially is the block for rank + d (mod p).
// Write d as digits of base `radix`. For each position i, all slots with digit z at i travel to
// rank + z * radix^i (mod p). After its highest digit a slot has arrived and goes to the
// output. On its way it is in scratch memory, in a slot as wide as the longest block of all ranks.
// The ranks compute that width first, in rounds of radix - 1 messages. Either the slots of a
// message are padded to it, or the message has no gaps and another one before it contains their
// lengths.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/patterns/digits.hpp"

namespace tutti::parts {

class vector_bruck {
 public:
  enum class slot_format { padded, lengths_in_own_message };

  vector_bruck(const shape& s, builder& b, int radix, slot_format how)
      : b_(b),
        p_(s.size),
        r_(s.rank),
        radix_(radix),
        dense_(how == slot_format::lengths_in_own_message),
        stored_slots_(p_ - radix - 1),
        max_moved_(patterns::max_with_a_digit(p_, radix)) {}

  void write() {
    b_.copy(block(buffer::input, r_, partition::input_counts),
            block(buffer::output, r_, partition::output_counts));
    if (stored_slots_ > 0) {  // otherwise all slots travel directly
      b_.words(send_lengths() + (dense_ ? 2 * max_moved_ : 0), width());
      compute_max_length();
      b_.reserve(blocks(buffer::scratch0, 0, max_moved_, partition::padded));
      b_.reserve(blocks(buffer::scratch1, 0, max_moved_, partition::padded));
      b_.reserve(blocks(buffer::scratch2, 0, stored(p_), partition::padded));
    }
    for (int weight = 1; weight < p_; weight = patterns::next_weight(weight, radix_, p_)) move(weight);
  }

 private:
  using digit_runs = patterns::digit_runs;

  // The words are: the lengths of the slots, if a message has no gaps; the width; a temporary word
  // for each of the radix - 1 messages of a round; the lengths of the slots of sent messages; those
  // of received messages.
  int width() const { return dense_ ? p_ : 0; }
  int temporary() const { return width() + 1; }
  int send_lengths() const { return width() + radix_; }
  int recv_lengths() const { return send_lengths() + max_moved_; }
  // The index of slot d in scratch2. Slots with a single digit, which include d = 1 .. radix, are
  // never stored there. partition::spaced requires that the index is that of its length.
  int stored(int d) const { return dense_ ? d : d - radix_ - 1; }

  void compute_max_length() {
    b_.loop(p_, [&] {
      const place length = dense_ ? word(at(0, 1)) : word(temporary());
      b_.measure(block(buffer::input, at(r_, 1, p_), partition::input_counts), length);
      b_.maximum(word(width()), length, word(width()));
    });
    for (int known = 1; known < p_; known = patterns::next_weight(known, radix_, p_)) {
      const int messages = std::min(radix_ - 1, (p_ - 1) / known);
      for (int i = 0; i < messages; ++i) {
        const int d = (i + 1) * known;
        b_.exchange((r_ + d) % p_, word(width()), (r_ - d + p_) % p_, word(temporary() + i));
      }
      repeat(messages, [&] { b_.maximum(word(width()), word(at(temporary(), 1)), word(width())); });
    }
  }

  // Calls body(runs, simple, first) for each digit. A single slot is simple: it has not moved,
  // arrives with this hop, and needs no packing. The others are slots first ... of the message
  // buffers.
  template <class Body>
  void for_each_digit(int weight, Body&& body) const {
    int first = 0;
    for (int z = 1; z < radix_ && z * weight < p_; ++z) {
      const digit_runs d(p_, radix_, weight, z);
      const bool simple = d.count() == 1;
      body(d, simple, first);
      if (!simple) first += d.count();
    }
  }

  // Calls body for the full runs from number `from` on, as a loop, and then for the short run. The
  // arguments are: first slot, slot distance, first slot in the message, message distance, slots in
  // a run, number of runs.
  template <class Body>
  static void for_each_run(const digit_runs& d, int from, int packed, Body&& body) {
    const auto visit = [&](int run, int length, int runs) {
      if (length > 0 && runs > 0)
        body(d.first + run * d.distance, d.distance, packed + run * d.length, d.length, length, runs);
    };
    visit(from, d.length, d.full - from);
    if (d.full >= from) visit(d.full, d.rest, 1);
  }

  void move(int weight) {
    const auto for_each_packed_digit = [&](auto&& body) {
      for_each_digit(weight, [&](const digit_runs& d, bool simple, int first) {
        if (!simple) body(d, first);
      });
    };
    if (dense_) {
      for_each_packed_digit([&](const digit_runs& d, int first) { pack_lengths(d, first); });
      b_.round();
      for_each_packed_digit([&](const digit_runs& d, int first) {
        const int n = d.count();
        b_.exchange((r_ + d.first) % p_, words(send_lengths() + first, n), (r_ - d.first + p_) % p_,
                    words(recv_lengths() + first, n));
      });
    }
    for_each_packed_digit([&](const digit_runs& d, int first) { pack(d, first); });
    b_.round();
    for_each_digit(weight, [&](const digit_runs& d, bool simple, int first) {
      const int up = (r_ + d.first) % p_, down = (r_ - d.first + p_) % p_;
      if (simple)
        b_.exchange(up, block(buffer::input, up, partition::input_counts), down,
                    block(buffer::output, down, partition::output_counts));
      else
        b_.exchange(up, send_slots(index{first}, d.count()), down, recv_slots(index{first}, d.count()));
    });
    for_each_packed_digit([&](const digit_runs& d, int first) { unpack(d, first); });
  }

  // Slots of the messages.
  place send_slots(index i, int n) const {
    return dense_ ? dense(buffer::scratch0, plus(i, send_lengths()), n, send_lengths())
                  : blocks(buffer::scratch0, i, n, partition::padded);
  }
  place recv_slots(index i, int n) const {
    return dense_ ? dense(buffer::scratch1, plus(i, recv_lengths()), n, recv_lengths())
                  : blocks(buffer::scratch1, i, n, partition::padded);
  }

  void pack_lengths(const digit_runs& d, int first) {
    for_each_run(d, 0, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        b_.copy(blocks(buffer::words, at(slot, step), length),
                blocks(buffer::words, at(send_lengths() + packed, packed_step), length));
      });
    });
  }

  // The first slot of a run has not moved yet; the others are stored in scratch2.
  void pack(const digit_runs& d, int first) {
    for_each_run(d, 0, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        b_.copy(block(buffer::input, at(r_ + slot, step, p_), partition::input_counts),
                send_slots(at(packed, packed_step), 1));
        if (length > 1 && !dense_)
          b_.copy(blocks(buffer::scratch2, at(stored(slot + 1), step), length - 1, partition::padded),
                  send_slots(at(packed + 1, packed_step), length - 1));
      });
      if (length > 1 && dense_)
        for_each_slot(runs, length - 1, [&](int outer) {
          const index from{stored(slot + 1), outer * step, 1, 0}, to{packed + 1, outer * packed_step, 1, 0};
          b_.copy(block(buffer::scratch2, from, partition::spaced), send_slots(to, 1));
        });
    });
  }

  void unpack(const digit_runs& d, int first) {
    repeat(d.length_of(0), [&] {  // no higher digit: the slot has arrived
      b_.copy(recv_slots(at(first, 1), 1),
              block(buffer::output, at(r_ - d.first, -1, p_), partition::output_counts));
    });
    for_each_run(d, 1, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        if (dense_)
          b_.copy(blocks(buffer::words, at(recv_lengths() + packed, packed_step), length),
                  blocks(buffer::words, at(slot, step), length));
        else
          b_.copy(recv_slots(at(packed, packed_step), length),
                  blocks(buffer::scratch2, at(stored(slot), step), length, partition::padded));
      });
      if (dense_)
        for_each_slot(runs, length, [&](int outer) {
          const index from{packed, outer * packed_step, 1, 0}, to{stored(slot), outer * step, 1, 0};
          b_.copy(recv_slots(from, 1), block(buffer::scratch2, to, partition::spaced));
        });
    });
  }

  // Writes no loop for a single iteration: the steps then have constant places.
  template <class Body>
  void repeat(int times, Body&& body) {
    if (times == 1)
      body();
    else
      b_.loop(times, body);
  }

  // Processes each run slot by slot. body(1) is called within a loop over runs and one over slots,
  // body(0) within a loop over the slots of a single run.
  template <class Body>
  void for_each_slot(int runs, int length, Body&& body) {
    if (runs == 1)
      b_.loop(length, [&] { body(0); });
    else
      b_.loop(runs, [&] { b_.loop(length, [&] { body(1); }); });
  }

  builder& b_;
  int p_, r_, radix_;
  bool dense_;
  int stored_slots_;  // number of slots beyond those that travel directly
  int max_moved_;     // maximum number of slots that move at a time
};

}  // namespace tutti::parts
