// SPDX-License-Identifier: Apache-2.0
//
// allreduce/recursive_multiplying
//
// The number of ranks is written as a product of factors of at most k; where it is none, consecutive ranks
// are first gathered in groups. In each round as many groups as a factor says exchange whole partial results
// with one another, all at the same time, and everyone combines them in the same order, that of the ranks: so
// all get the same result to the bit. Targets alternate between two buffers, since the others may still read
// what was sent.
//
// Source:       Ruefenacht, Bull, Booth 2017
// Parameters:   k = 4 in 2..32: the greatest factor, one more than the messages of a rank under way together
// Rounds:       <= (k - 1) * floor_log(k, p) + 2 * (ceil(p / pow(k, floor_log(k, p))) - 1)
// Bytes:        <= n * ((k - 1) * floor_log(k, p) + ceil(p / pow(k, floor_log(k, p))) - 1)
// Scratch:      n * (k - 1)
// Good for:     short vectors, where a message costs more than its bytes
#include "algorithms/parts/groups.hpp"
#include "patterns/factors.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_recursive_multiplying {

namespace {

/// Everyone gives its own partial result, and combines it with the others' into a target of its own. The
/// first two meet in the target; those after them wait in slots.
template <class Member>
void exchange(builder& b, int count, int digit, Member&& member, place own, place target) {
  for (int t = 1; t < count; ++t) b.send(member((digit + t) % count), own);
  const auto waiting = [&](int j) {
    if (j == digit) return own;
    return block(buffer::scratch1, digit < 2 || j > digit ? j - 2 : j - 1);
  };
  for (int t = count - 1; t > 0; --t) {
    const int j = (digit + t) % count;
    if (j == 1 - digit)
      b.recv_reduce(member(j), j < digit, own, target);
    else
      b.recv(member(j), j == 0 ? target : waiting(j));
  }
  for (int j = digit < 2 ? 2 : 1; j < count; ++j) b.reduce(target, waiting(j), target);
  b.round();
}

}  // namespace

void write(const shape& s, builder& b) {
  const patterns::factors f(s.size, s.of(knob::k));
  const int g = f.group_of(s.rank);
  if (parts::follow(b, f, s.rank)) return;
  const bool gathers = f.members_of(g) > 1;
  const int combinations = static_cast<int>(f.all.size()) + (gathers ? 1 : 0);
  if (combinations == 0) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  // The last target is output. In place the operand stands there, and what is sent must not be written: then
  // the targets change places and a copy ends it.
  bool swapped = false;
  const auto target = [&](int i) {
    return whole((combinations - 1 - i) % 2 == 0 != swapped ? buffer::output : buffer::scratch0);
  };
  swapped = s.in_place && !gathers && target(0).where == buffer::output;
  if (combinations > 1 || swapped) b.scratch(buffer::scratch0, 1);
  if (f.most() > 2) b.scratch(buffer::scratch1, f.most() - 2);

  place own = whole(buffer::input);
  int i = 0;
  if (gathers) {
    parts::gather_operands(b, f, g, own, target(0));
    own = target(i++);
  }
  int distance = 1;
  for (const int factor : f.all) {
    const int digit = g / distance % factor;
    const auto member = [&](int j) { return f.leader_of(g + (j - digit) * distance); };
    exchange(b, factor, digit, member, own, target(i));
    own = target(i++);
    distance *= factor;
  }
  if (swapped) b.copy(own, whole(buffer::output));
  b.round();
  parts::give_results(b, f, g);
}

}  // namespace tutti::algorithms::allreduce_recursive_multiplying
