// SPDX-License-Identifier: Apache-2.0
//
// Bruck's alltoall for blocks of any lengths. Slot d initially is the block for the rank d above.
// Write the numbers 0 .. p-1 to a radix. For each position, all slots with digit z there travel to
// the rank z radix^position above. After its highest digit a slot has arrived and goes to the
// output. On its way it is in scratch memory, in a slot as wide as the longest block of all ranks,
// which the ranks compute first. Either the slots of a message are padded to that width, or the
// message has no gaps and another one before it contains their lengths.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/patterns/digits.hpp"

namespace tutti::parts {

class vector_bruck {
 public:
  enum class slots_are { padded, dense };

  vector_bruck(const shape& s, builder& b, int radix, slots_are how)
      : b_(b),
        p_(s.size),
        r_(s.rank),
        radix_(radix),
        dense_(how == slots_are::dense),
        rooms_(p_ - radix - 1),
        most_(patterns::max_with_a_digit(p_, radix)) {}

  void write() {
    b_.copy(block(buffer::input, r_, table::in), block(buffer::output, r_, table::out));
    if (rooms_ > 0) {  // otherwise all slots travel directly
      b_.words(giving() + (dense_ ? 2 * most_ : 0), width());
      find_the_longest();
      b_.reserve(blocks(buffer::scratch0, 0, most_, table::padded));
      b_.reserve(blocks(buffer::scratch1, 0, most_, table::padded));
      b_.reserve(blocks(buffer::scratch2, 0, rooms_, table::padded));
    }
    for (int weight = 1; weight < p_; weight = patterns::next_weight(weight, radix_, p_)) move(weight);
  }

 private:
  using digit_runs = patterns::digit_runs;

  // The words are: the lengths of the slots in scratch2, as table::spaced requires; the width; a
  // temporary word; the lengths of the slots of sent messages; those of received messages.
  int width() const { return dense_ ? rooms_ : 0; }
  int other() const { return width() + 1; }
  int giving() const { return width() + 2; }
  int taking() const { return giving() + most_; }
  // Slots with a single digit, which include d = 1 .. radix, are never stored in scratch2.
  int room(int d) const { return d - radix_ - 1; }

  void find_the_longest() {
    b_.loop(p_, [&] {
      b_.measure(block(buffer::input, at(0, 1), table::in), word(other()));
      b_.maximum(word(width()), word(other()), word(width()));
    });
    for (int d = 1; d < p_; d *= 2) {
      b_.exchange((r_ + d) % p_, word(width()), (r_ - d + p_) % p_, word(other()));
      b_.maximum(word(width()), word(other()), word(width()));
    }
  }

  // Calls body(runs, simple, first) for each digit. A single slot is simple: it has not moved,
  // arrives with this hop, and needs no packing. The others are slots first ... of the message
  // buffers.
  template <class Body>
  void each_digit(int weight, Body&& body) const {
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
  static void each_kind_of_run(const digit_runs& d, int from, int packed, Body&& body) {
    const auto kind = [&](int run, int length, int runs) {
      if (length > 0 && runs > 0)
        body(d.first + run * d.distance, d.distance, packed + run * d.length, d.length, length, runs);
    };
    kind(from, d.length, d.full - from);
    if (d.full >= from) kind(d.full, d.rest, 1);
  }

  void move(int weight) {
    const auto each_packed = [&](auto&& body) {
      each_digit(weight, [&](const digit_runs& d, bool simple, int first) {
        if (!simple) body(d, first);
      });
    };
    if (dense_) {
      each_packed([&](const digit_runs& d, int first) { report_lengths(d, first); });
      b_.round();
      each_packed([&](const digit_runs& d, int first) {
        const int n = d.count();
        b_.exchange((r_ + d.first) % p_, words(giving() + first, n), (r_ - d.first + p_) % p_,
                    words(taking() + first, n));
      });
    }
    each_packed([&](const digit_runs& d, int first) { pack(d, first); });
    b_.round();
    each_digit(weight, [&](const digit_runs& d, bool simple, int first) {
      const int up = (r_ + d.first) % p_, down = (r_ - d.first + p_) % p_;
      if (simple)
        b_.exchange(up, block(buffer::input, up, table::in), down, block(buffer::output, down, table::out));
      else
        b_.exchange(up, leaving(index{first}, d.count()), down, coming(index{first}, d.count()));
    });
    each_packed([&](const digit_runs& d, int first) { unpack(d, first); });
  }

  // Slots of the messages.
  place leaving(index i, int n) const {
    return dense_ ? held(buffer::scratch0, plus(i, giving()), n, giving())
                  : blocks(buffer::scratch0, i, n, table::padded);
  }
  place coming(index i, int n) const {
    return dense_ ? held(buffer::scratch1, plus(i, taking()), n, taking())
                  : blocks(buffer::scratch1, i, n, table::padded);
  }

  // The first slot of a run has not moved yet; the others are stored in scratch2.
  void report_lengths(const digit_runs& d, int first) {
    each_kind_of_run(d, 0, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        const index told = at(giving() + packed, packed_step);
        b_.measure(block(buffer::input, at(r_ + slot, step, p_), table::in), word(told));
        if (length > 1)
          b_.copy(blocks(buffer::words, at(room(slot + 1), step), length - 1),
                  blocks(buffer::words, plus(told, 1), length - 1));
      });
    });
  }

  void pack(const digit_runs& d, int first) {
    each_kind_of_run(d, 0, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        b_.copy(block(buffer::input, at(r_ + slot, step, p_), table::in),
                leaving(at(packed, packed_step), 1));
        if (length > 1 && !dense_)
          b_.copy(blocks(buffer::scratch2, at(room(slot + 1), step), length - 1, table::padded),
                  leaving(at(packed + 1, packed_step), length - 1));
      });
      if (length > 1 && dense_)
        each_slot(runs, length - 1, [&](int outer) {
          const index from{room(slot + 1), outer * step, 1, 0}, to{packed + 1, outer * packed_step, 1, 0};
          b_.copy(block(buffer::scratch2, from, table::spaced), leaving(to, 1));
        });
    });
  }

  void unpack(const digit_runs& d, int first) {
    repeat(d.length_of(0), [&] {  // no higher digit: the slot has arrived
      b_.copy(coming(at(first, 1), 1), block(buffer::output, at(r_ - d.first, -1, p_), table::out));
    });
    each_kind_of_run(d, 1, first, [&](int slot, int step, int packed, int packed_step, int length, int runs) {
      repeat(runs, [&] {
        if (dense_)
          b_.copy(blocks(buffer::words, at(taking() + packed, packed_step), length),
                  blocks(buffer::words, at(room(slot), step), length));
        else
          b_.copy(coming(at(packed, packed_step), length),
                  blocks(buffer::scratch2, at(room(slot), step), length, table::padded));
      });
      if (dense_)
        each_slot(runs, length, [&](int outer) {
          const index from{packed, outer * packed_step, 1, 0}, to{room(slot), outer * step, 1, 0};
          b_.copy(coming(from, 1), block(buffer::scratch2, to, table::spaced));
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
  void each_slot(int runs, int length, Body&& body) {
    if (runs == 1)
      b_.loop(length, [&] { body(0); });
    else
      b_.loop(runs, [&] { b_.loop(length, [&] { body(1); }); });
  }

  builder& b_;
  int p_, r_, radix_;
  bool dense_;
  int rooms_;  // number of slots in scratch2
  int most_;   // maximum number of slots that move at a time
};

}  // namespace tutti::parts
