// SPDX-License-Identifier: Apache-2.0
//
// alltoall/bruck
//
// Slot d of a rank initially holds its block for the rank d above. Write the numbers 0 .. p-1 to
// the base k. For each position, all slots with digit z there travel together to the rank z
// k^position above. After its highest digit a slot has moved up d ranks. Slot d is in the output at
// its final position, block r - d, from its first arrival on. So no rotation is needed at the end.
//
// Source:       Bruck, Ho, Kipnis, Upfal, Weathersby 1997
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..256: base of the digits, k - 1 messages at a time
// Rounds:       p < 2 ? 0 : (ceil_log(k, p) - 1) * (k - 1) + ceil(p / pow(k, ceil_log(k, p) - 1)) -
//                 1
// Bytes:        <= b * floor(p * (k - 1) / k) * ceil_log(k, p)
// Scratch:      2 * b * floor(p * (k - 1) / k)
// Good for:     small blocks
#include "schedule/algorithm.hpp"
#include "schedule/patterns/digits.hpp"

namespace tutti::algorithms::alltoall_bruck {
namespace {

using patterns::digit_runs;

struct writer {
  const shape& s;
  builder& b;

  int wrapped(int rank) const { return (rank % s.size + s.size) % s.size; }

  template <class Body>
  void repeat(int times, Body&& body) const {
    if (times == 1)
      body();
    else if (times > 1)
      b.loop(times, body);
  }

  // Packs or unpacks the slots of a message run by run, each in reverse order, as they lie in the
  // output. The first `skip` slots of each run are omitted. A run that wraps around the end of the
  // output takes two copies.
  void copy_slots(const digit_runs& d, int skip, bool pack, int packed_at) const {
    d.for_each_stretch(skip, s.rank, [&](int run, int runs, int from, int to) {
      const int step = runs > 1 ? d.distance : 0;
      const index first{wrapped(s.rank - (d.first + run * d.distance + to - 1)), 0, -step, step ? s.size : 0};
      const index there = at(packed_at + run * d.length + d.length_of(run) - to, runs > 1 ? d.length : 0);
      const place slots = blocks(buffer::output, first, to - from);
      repeat(runs, [&] {
        if (pack)
          b.copy(slots, blocks(buffer::scratch0, there, to - from));
        else
          b.copy(blocks(buffer::scratch1, there, to - from), slots);
      });
    });
  }

  // The first slot of each run has not moved yet.
  void copy_first_slots(const digit_runs& d, int packed_at) const {
    repeat(d.full, [&] {
      b.copy(block(buffer::input, at(s.rank + d.first, d.distance, s.size)),
             block(buffer::scratch0, at(packed_at + d.length - 1, d.length)));
    });
    if (d.rest > 0)
      b.copy(block(buffer::input, wrapped(s.rank + d.first + d.full * d.distance)),
             block(buffer::scratch0, packed_at + d.full * d.length + d.rest - 1));
  }

  // In place, slot d initially is at the block for the rank d above: r + d.
  void reverse_slots() const {
    const int p = s.size, r = s.rank;
    const place above = block(buffer::output, at(r + 1, 1, p)),
                below = block(buffer::output, at(r - 1, -1, p));
    repeat((p - 1) / 2, [&] {
      b.copy(above, block(buffer::scratch0, 0));
      b.copy(below, above);
      b.copy(block(buffer::scratch0, 0), below);
    });
  }
};

}  // namespace

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, k = s.of(algorithm_parameter::k);
  const writer w{s, b};
  if (s.in_place || p > k + 1) {
    b.scratch(buffer::scratch0, patterns::max_with_a_digit(p, k));
    b.scratch(buffer::scratch1, patterns::max_with_a_digit(p, k));
  }
  if (s.in_place)
    w.reverse_slots();
  else
    b.copy(block(buffer::input, r), block(buffer::output, r));
  for (int weight = 1; weight < p; weight = patterns::next_weight(weight, k, p)) {
    // A single slot needs no packing: it goes from the input directly to its final position.
    const auto each_digit = [&](auto&& body) {
      int packed_at = 0;
      for (int z = 1; z < k && z * weight < p; ++z) {
        const digit_runs d(p, k, weight, z);
        const bool simple = d.count() == 1 && !s.in_place;
        body(d, simple, packed_at);
        if (!simple) packed_at += d.count();
      }
    };
    each_digit([&](const digit_runs& d, bool simple, int at) {
      if (simple) return;
      if (!s.in_place) w.copy_first_slots(d, at);
      w.copy_slots(d, s.in_place ? 0 : 1, true, at);
    });
    b.round();
    each_digit([&](const digit_runs& d, bool simple, int at) {
      const int up = w.wrapped(r + d.first), down = w.wrapped(r - d.first), n = d.count();
      b.exchange(up, simple ? block(buffer::input, up) : blocks(buffer::scratch0, at, n), down,
                 simple ? block(buffer::output, down) : blocks(buffer::scratch1, at, n));
    });
    each_digit([&](const digit_runs& d, bool simple, int at) {
      if (!simple) w.copy_slots(d, 0, false, at);
    });
  }
}

}  // namespace tutti::algorithms::alltoall_bruck
