// SPDX-License-Identifier: Apache-2.0
//
// Finds conflicting accesses: those within one round, and those between a put and an access of its
// target.
//
// Vector clocks record which rounds of other ranks are known to have begun. A message carries the
// clock of its sender, including what the sender learnt from messages. A round is over if the next
// round of its rank is known to have begun.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {

// All transfers of a round progress concurrently in any order. So no transfer may read or write
// what another one writes.
void abstract_machine::state::prove_round(int rank) {
  const rank_state& me = of(rank);
  spans_.clear();
  const auto add = [&](const area& a, bool writes) {
    if (a.count > 0) spans_.push_back({a.memory, writes, a.first, a.end()});
    if (puts_) record_access(rank, a);
  };
  for (const transfer& t : me.sends)
    if (t.what->kind != step_kind::signal) add(t.source, false);
  for (const transfer& t : me.recvs) {
    if (t.what->kind == step_kind::await_signal) continue;
    add(t.target, true);
    const bool same = t.source.memory == t.target.memory && t.source.first == t.target.first;
    if (t.what->kind == step_kind::recv_reduce && !same) add(t.source, false);
  }
  if (spans_.size() < 2) return;
  std::sort(spans_.begin(), spans_.end(), [](const span& a, const span& b) {
    return a.memory != b.memory ? a.memory < b.memory : a.first < b.first;
  });
  std::size_t read_to = 0, written_to = 0;
  for (std::size_t i = 0; i < spans_.size(); ++i) {
    const span& s = spans_[i];
    if (i == 0 || spans_[i - 1].memory != s.memory) read_to = written_to = 0;
    if (s.first < written_to || (s.writes && s.first < read_to)) {
      const bool both = s.writes && s.first < written_to;
      area a;
      a.memory = s.memory;
      a.first = s.first;
      a.count = s.end - s.first;
      fail(rank, "two transfers of one round collide at " + text(rank, a) +
                     (both ? ", which both write" : ", which one writes while the other reads it"));
    }
    (s.writes ? written_to : read_to) = std::max(s.writes ? written_to : read_to, s.end);
  }
}

void abstract_machine::state::record_access(int rank, const area& a) {
  if (a.memory == 1 && a.count > 0) of(rank).accesses.push_back({of(rank).round, a.first, a.end()});
}

// Called at the end of a round with an await_signal. No access may overlap with a put between the
// earliest time at which the put could begin and its await_signal.
void abstract_machine::state::prove_puts(int rank) {
  const rank_state& me = of(rank);
  for (auto p = me.puts.rbegin(); p != me.puts.rend() && p->round == me.round; ++p)
    for (auto a = me.accesses.rbegin(); a != me.accesses.rend(); ++a) {
      // earlier accesses are over too
      if (static_cast<std::uint32_t>(a->round) + 2 <= p->known_rounds) break;
      if (a->first < p->end && p->first < a->end)
        fail(rank, "it touches output[" + std::to_string(a->first) + " .. " + std::to_string(a->end) +
                       ") in its round " + std::to_string(a->round) + ", while rank " +
                       std::to_string(p->from) + " may put to [" + std::to_string(p->first) + " .. " +
                       std::to_string(p->end) + ")");
    }
}

// If puts of two ranks overlap, one of them must be known to be over when the other begins.
void abstract_machine::state::prove_put_pairs(int rank) {
  auto& puts = of(rank).puts;
  std::sort(puts.begin(), puts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < puts.size(); ++i)
    for (std::size_t k = i + 1; k < puts.size() && puts[k].first < puts[i].end; ++k) {
      const auto& a = puts[i];
      const auto& b = puts[k];
      if (a.from == b.from || b.known_rounds >= static_cast<std::uint32_t>(a.round) + 2 ||
          a.known_rounds >= static_cast<std::uint32_t>(b.round) + 2)
        continue;
      fail(rank, "ranks " + std::to_string(a.from) + " and " + std::to_string(b.from) +
                     " put to the same place, output[" + std::to_string(b.first) + " .. ), at any time");
    }
}

}  // namespace tutti::proof
