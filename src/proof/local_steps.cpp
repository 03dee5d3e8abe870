// SPDX-License-Identifier: Apache-2.0
//
// Executes local steps of an abstract run: copies, reductions, and the arithmetic on words.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {

void abstract_machine::state::record_local(int rank, const step& s, const area& source, const area& other,
                                           const area& target) {
  if (!options_.record) return;
  of(rank).traced.steps.push_back({s.kind,
                                   static_cast<std::uint32_t>(&s - schedule_of(rank).steps.data()),
                                   false,
                                   -1,
                                   {s.source.where, source.first, source.count, source.known},
                                   {s.other.where, other.first, other.count, other.known},
                                   {s.target.where, target.first, target.count, target.known},
                                   0});
}

std::size_t abstract_machine::state::word_at(int rank, const place& p) {
  const area a = locate(rank, p);
  if (a.memory != words_memory || a.count != 1) fail(rank, text(rank, a) + " is not a word");
  return a.first;
}

void abstract_machine::state::set_word(int rank, std::size_t word, std::uint64_t value, bool known) {
  rank_state& me = of(rank);
  me.words[word] = value;
  if (only_ < 0) return;
  me.known_words[word] = known;
  words_changed(me);
}

// Returns whether the step is one that computes a word, or the size of scratch.
bool abstract_machine::state::word_step(int rank, const step& s) {
  rank_state& me = of(rank);
  switch (s.kind) {
    case step_kind::reserve:
      record_local(rank, s, {}, {}, reserve(rank, s.target));
      return true;
    case step_kind::measure: {
      const area measured = locate(rank, s.source);
      set_word(rank, word_at(rank, s.target), measured.count, measured.known);
      record_local(rank, s, {}, {}, locate(rank, s.target));
      return true;
    }
    case step_kind::maximum: {
      const std::size_t a = word_at(rank, s.source), b = word_at(rank, s.other);
      set_word(rank, word_at(rank, s.target), std::max(me.words[a], me.words[b]),
               only_ < 0 || (me.known_words[a] && me.known_words[b]));
      record_local(rank, s, locate(rank, s.source), locate(rank, s.other), locate(rank, s.target));
      return true;
    }
    default:
      return false;
  }
}

void abstract_machine::state::local_step(int rank, const step& s) {
  const auto collide = [](const area& a, const area& b) {
    return a.memory == b.memory && a.first != b.first && a.first < b.end() && b.first < a.end();
  };
  if (word_step(rank, s)) return;
  area from = locate(rank, s.source), to = locate(rank, s.target), right{};
  if (!from.exists || !to.exists) return;
  if (s.kind != step_kind::copy) right = locate(rank, s.other);
  if (!from.known || !right.known || !to.known) {
    overwrite(rank, to);
  } else if (s.kind == step_kind::copy) {
    if (from.padded != to.padded) {  // its length is that of the other place, which must fit
      area& wide = from.padded ? from : to;
      const area& narrow = from.padded ? to : from;
      if (narrow.count > wide.count) fail(rank, text(rank, narrow) + " does not fit " + text(rank, wide));
      wide.count = narrow.count;
    }
    if (from.count != to.count) fail(rank, "it copies " + text(rank, from) + " to " + text(rank, to));
    if (collide(from, to)) fail(rank, "it copies " + text(rank, from) + " over itself to " + text(rank, to));
    if (from.padded != to.padded) from.padded = to.padded = false;
    move(rank, from, rank, to);
  } else {
    if (collide(from, to) || collide(right, to))
      fail(rank, "it reduces into a part of an operand, " + text(rank, to));
    combine(rank, from, rank, right, rank, to);
  }
  if (puts_)
    for (const area& a : {from, right, to}) record_access(rank, a);
  record_local(rank, s, from, right, to);
}

}  // namespace tutti::proof
