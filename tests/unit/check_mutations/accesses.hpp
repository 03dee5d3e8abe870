// SPDX-License-Identifier: Apache-2.0
//
// The memory accesses in a run of correct schedules. They show whether a mutated schedule is
// equivalent.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "proof/prove.hpp"

namespace tutti::proof {

struct use {
  buffer where;
  std::size_t first, end;
  bool writes;
};

// Accesses in one round of a rank to its own buffers. The target of a put belongs to the peer.
inline std::vector<use> uses_of(const abstract_call& p, int rank, const traced_round& r, int only_step = -1) {
  std::vector<use> all;
  const auto add = [&](traced_place a, bool writes) {
    if (a.where == buffer::input && p.aliased_at(rank)) a.where = buffer::output;
    if (a.count > 0) all.push_back({a.where, a.first, a.first + a.count, writes});
  };
  for (const traced_step& s : r.steps) {
    if (only_step >= 0 && s.step != static_cast<std::uint32_t>(only_step)) continue;
    add(s.source, false);
    add(s.other, false);
    if (s.kind != step_kind::put) add(s.target, true);
  }
  return all;
}

inline bool collide(const std::vector<use>& a, const std::vector<use>& b) {
  for (const use& x : a)
    for (const use& y : b)
      if ((x.writes || y.writes) && x.where == y.where && x.first < y.end && y.first < x.end) return true;
  return false;
}

// The executed steps, with the maximum number of elements of each.
inline std::map<std::uint32_t, std::size_t> executed(const std::vector<traced_round>& rounds) {
  std::map<std::uint32_t, std::size_t> all;
  for (const traced_round& r : rounds)
    for (const traced_step& s : r.steps)
      all[s.step] = std::max({all[s.step], s.source.count, s.target.count});
  return all;
}

// Returns the end of the part of a scratch buffer that a rank uses.
inline std::size_t reach(const std::vector<traced_round>& rounds, buffer which) {
  std::size_t end = 0;
  for (const traced_round& r : rounds)
    for (const traced_step& s : r.steps)
      for (const traced_place* p : {&s.source, &s.other, &s.target})
        if (p->where == which && p->count > 0 && s.kind != step_kind::put)
          end = std::max(end, p->first + p->count);
  return end;
}

// Returns whether two runs accessed the same elements in the same order.
inline bool same_accesses(const trace& a, const trace& b) {
  const auto same_place = [](const traced_place& x, const traced_place& y) {
    return x.where == y.where && x.first == y.first && x.count == y.count;
  };
  const auto same_step = [&](const traced_step& x, const traced_step& y) {
    return x.kind == y.kind && x.received_left == y.received_left && x.peer == y.peer &&
           same_place(x.source, y.source) && same_place(x.other, y.other) && same_place(x.target, y.target);
  };
  const auto same_round = [&](const traced_round& x, const traced_round& y) {
    return std::equal(x.steps.begin(), x.steps.end(), y.steps.begin(), y.steps.end(), same_step);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same_round);
  });
}

}  // namespace tutti::proof
