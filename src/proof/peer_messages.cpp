// SPDX-License-Identifier: Apache-2.0
#include "proof/peer_messages.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

namespace tutti::proof {
namespace {

using content = peer_message::content;

bool is_send(step_kind k) { return k == step_kind::send || k == step_kind::put || k == step_kind::signal; }

content content_of(step_kind k, buffer where) {
  if (k == step_kind::signal || k == step_kind::await_signal) return content::signal;
  return where == buffer::words ? content::words : content::elements;
}

std::int64_t modulo(std::int64_t x, std::int64_t m) {
  x %= m;
  return x < 0 ? x + m : x;
}

// The inverse of a modulo m; both have no common divisor.
std::int64_t inverse(std::int64_t a, std::int64_t m) {
  std::int64_t r0 = m, r1 = modulo(a, m), t0 = 0, t1 = 1;
  while (r1 != 0) {
    const std::int64_t q = r0 / r1;
    r0 = std::exchange(r1, r0 - q * r1);
    t0 = std::exchange(t1, t0 - q * t1);
  }
  return modulo(t0, m);
}

// Appends all i in [0, n) with base + step * i = value, modulo m unless m is 0.
void solve(std::int64_t base, std::int64_t step, std::int64_t m, std::int64_t value, std::int64_t n,
           std::vector<std::int64_t>& all) {
  const std::int64_t distance = value - base;
  if (m <= 0) {
    if (step != 0 && distance % step == 0 && distance / step >= 0 && distance / step < n)
      all.push_back(distance / step);
    if (step == 0 && distance == 0)
      for (std::int64_t i = 0; i < n; ++i) all.push_back(i);
    return;
  }
  if (value < 0 || value >= m) return;
  const std::int64_t a = modulo(step, m), g = std::gcd(a, m);
  if (modulo(distance, m) % g != 0) return;
  const std::int64_t period = m / g;
  const std::int64_t first = modulo(distance, m) / g * inverse(a / g, period) % period;
  for (std::int64_t i = first; i < n; i += period) all.push_back(i);
}

std::string text(const peer_message& m) {
  if (m.what == content::signal) return "a signal";
  const std::string unit = m.what == content::words ? " words" : " elements";
  return m.known ? std::to_string(m.count) + unit : "a message of" + unit;
}

// Compares two lists that should match one to one. `mine` are sends of the rank, or its receives.
void compare(int rank, int peer, bool sends, const std::vector<const peer_message*>& mine,
             const std::vector<const peer_message*>& theirs, peer_comparison& made) {
  const auto fail = [&](int round, const std::string& what) { made.faults.push_back({rank, round, what}); };
  const std::string name = "rank " + std::to_string(peer);
  for (std::size_t i = 0; i < std::max(mine.size(), theirs.size()); ++i) {
    if (i >= theirs.size())
      return fail(mine[i]->round, sends ? "it sends " + text(*mine[i]) + " to " + name +
                                              ", which has no matching step: it receives " +
                                              std::to_string(theirs.size()) + " messages from this rank"
                                        : "it waits for " + text(*mine[i]) + " from " + name +
                                              ", which has no matching step: it sends " +
                                              std::to_string(theirs.size()) + " messages to this rank");
    if (i >= mine.size())
      return fail(-1, name + (sends ? " waits in its round " : " sends in its round ") +
                          std::to_string(theirs[i]->round) + (sends ? " for " : " ") + text(*theirs[i]) +
                          (sends ? " from this rank, which sends it " : " to this rank, which expects ") +
                          std::to_string(mine.size()) + " messages" + (sends ? "" : " from it"));
    const peer_message &a = *mine[i], &b = *theirs[i];
    if (a.what != b.what || (a.known && b.known && a.count != b.count))
      return fail(a.round, (sends ? "it sends " : "it expects ") + text(a) + (sends ? " to " : " from ") +
                               name + ", which " + (sends ? "expects " : "sends ") + text(b) +
                               " in its round " + std::to_string(b.round));
  }
}

std::vector<const peer_message*> select(std::span<const peer_message> all, bool sent) {
  std::vector<const peer_message*> made;
  for (const peer_message& m : all)
    if (m.sent == sent) made.push_back(&m);
  return made;
}

}  // namespace

void append_messages(const traced_round& r, int round, std::vector<peer_message>& all) {
  for (const traced_step& s : r.steps) {
    if (is_local(s.kind)) break;
    const bool sent = is_send(s.kind);
    const traced_place& p = sent ? s.source : s.target;
    all.push_back({s.peer, round, content_of(s.kind, p.where), sent, p.known, p.count});
  }
}

peer_schedules::peer_schedules(void (*write)(const shape&, builder&), const case_options& w)
    : write_(write), rule_(w) {}

std::vector<peer_message> peer_schedules::transfers(int peer, int rank) {
  const case_options& w = rule_.options();
  peer_ = peer;
  rank_ = rank;
  round_ = 0;
  count_ = rule_.count(peer);
  found_.clear();
  if (is_neighborhood(w.what)) {
    sources_ = rule_.sources(peer);
    destinations_ = rule_.destinations(peer);
    work_ += sources_.size() + destinations_.size();
  }
  schedule_ = schedule{};  // before the next one is made
  builder b;
  shape s = shape_of(rule_.head(), peer);
  s.sources = sources_;
  s.destinations = destinations_;
  write_(s, b);
  schedule_ = b.finish();
  work_ += 4 + schedule_.steps.size();
  walk(0, schedule_.items.size(), {});
  return std::move(found_);
}

std::int64_t peer_schedules::resolve(const index& i, const counters& c) {
  std::int64_t value = i.base + i.inner * c.inner + i.outer * c.outer;
  return i.modulus > 0 ? modulo(value, i.modulus) : value;
}

std::int64_t peer_schedules::trips(const trip_count& t) const {
  if (t.per_segment == 0) return t.fixed;
  const std::size_t element = rule_.options().element_bytes;
  const auto parts = static_cast<std::size_t>(std::max(1, schedule_.parts));
  const std::size_t longest = t.per_segment == 2 ? (count_ + parts - 1) / parts : count_;
  const std::size_t each = std::max<std::size_t>(schedule_.segment_bytes / element, 1);
  return t.fixed + static_cast<std::int64_t>((longest + each - 1) / each);
}

void peer_schedules::walk(std::size_t first, std::size_t end, const counters& c) {
  for (std::size_t i = first; i < end; ++i) {
    const item& one = schedule_.items[i];
    if (one.kind == item_kind::round) visit(one, c);
    if (one.kind != item_kind::loop) continue;
    walk_loop(i, c);
    i = one.first;
  }
}

void peer_schedules::walk_loop(std::size_t head, const counters& c) {
  const std::size_t first = head + 1, end = schedule_.items[head].first;
  const std::int64_t n = trips(schedule_.items[head].trips);
  if (n <= 0) return;
  // In nested loops the outer counter stays, and the inner counter is that of the inner loop.
  const counters inside{c.depth + 1, c.depth == 0 ? 0 : c.inner, 0};
  const auto at = [&](std::int64_t i) {
    counters now = inside;
    now.inner = i;
    return now;
  };
  const auto begin = schedule_.items.begin();
  const auto length = static_cast<std::ptrdiff_t>(end - first);
  const bool innermost =
      std::all_of(begin + static_cast<std::ptrdiff_t>(first), begin + static_cast<std::ptrdiff_t>(end),
                  [](const item& i) { return i.kind == item_kind::round; });
  if (!innermost) {
    for (std::int64_t i = 0; i < n; ++i) walk(first, end, at(i));
    return;
  }
  const int round = round_;
  for (const std::int64_t i : iterations(first, end, inside, n)) {
    round_ = round + static_cast<int>(i * length);
    walk(first, end, at(i));
  }
  round_ = round + static_cast<int>(n * length);
}

// The iterations of an innermost loop that have a transfer with the rank, ascending.
std::vector<std::int64_t> peer_schedules::iterations(std::size_t first, std::size_t end, counters c,
                                                     std::int64_t n) const {
  std::vector<std::int64_t> all;
  for (std::size_t i = first; i < end; ++i) {
    const item& r = schedule_.items[i];
    for (std::uint32_t k = 0; k < r.sends + r.recvs; ++k) {
      const index& peer = schedule_.steps[r.first + k].peer;
      solve(peer.base + peer.outer * c.outer, peer.inner, peer.modulus, rank_, n, all);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void peer_schedules::visit(const item& r, const counters& c) {
  work_ += r.sends + r.recvs;
  for (std::uint32_t k = 0; k < r.sends + r.recvs; ++k) {
    const step& s = schedule_.steps[r.first + k];
    // put: its target has no matching step
    if (s.kind == step_kind::put || resolve(s.peer, c) != rank_) continue;
    const place& p = k < r.sends ? s.source : s.target;
    peer_message m{rank_, round_, content_of(s.kind, p.where), k < r.sends, true, 0};
    if (m.what == content::signal || measure(p, c, m)) found_.push_back(m);
  }
  ++round_;
}

bool peer_schedules::measure(const place& p, const counters& c, peer_message& m) {
  std::int64_t first = resolve(p.first, c);
  if (p.permuted && schedule_.permutation != nullptr)
    first = schedule_.permutation(static_cast<std::int32_t>(first), schedule_.ranks);
  m.known = first >= 0 && p.blocks >= 0 && count_blocks(p, first, m.count);
  if (!p.segmented) return true;
  const std::int64_t s = resolve(p.segment, c);
  if (p.pieces > 0) {
    const auto n = static_cast<std::size_t>(p.pieces), i = static_cast<std::size_t>(s);
    if (s < 0 || s >= p.pieces) return false;
    m.count = m.count / n + (i < m.count % n ? 1 : 0);
    return true;
  }
  if (!m.known) return true;
  const std::size_t each = std::max<std::size_t>(schedule_.segment_bytes / rule_.options().element_bytes, 1);
  const std::size_t from = s < 0 ? m.count : static_cast<std::size_t>(s) * each;
  if (from >= m.count) return false;
  m.count = std::min(each, m.count - from);
  return true;
}

bool peer_schedules::count_blocks(const place& p, std::int64_t first, std::size_t& count) {
  const auto from = static_cast<std::size_t>(first), n = static_cast<std::size_t>(p.blocks);
  switch (p.how) {
    case partition::uniform:
      count = n * (p.where == buffer::words ? 1 : count_);
      return true;
    case partition::split: {
      const auto parts = static_cast<std::size_t>(std::max(1, schedule_.parts));
      const std::size_t rest = count_ % parts;
      count = n * (count_ / parts) + std::min(from + n, rest) - std::min(from, rest);
      return true;
    }
    case partition::input_counts:
    case partition::output_counts:
      return count_table(p, first, count);
    default:
      return false;
  }
}

bool peer_schedules::count_table(const place& p, std::int64_t first, std::size_t& count) {
  using side = block_rule::side;
  const side which = p.how == partition::input_counts ? side::in : side::out;
  if (!rule_.has_table(which, peer_)) return false;
  const bool neighbors = is_neighborhood(rule_.options().what);
  const std::vector<int>& list = which == side::in ? destinations_ : sources_;
  const abstract_call::range range = rule_.owner_range(which, peer_);
  const auto size = neighbors ? static_cast<std::int64_t>(list.size()) : range.size();
  if (first + p.blocks > size) return false;
  work_ += static_cast<std::uint64_t>(p.blocks);
  count = 0;
  for (std::int64_t i = first; i < first + p.blocks; ++i)
    count += rule_.length(which, peer_,
                          neighbors ? list[static_cast<std::size_t>(i)] : range.first + static_cast<int>(i));
  return true;
}

peer_comparison compare_with_peers(int rank, std::vector<peer_message> messages, peer_schedules& peers,
                                   std::uint64_t max_work) {
  peer_comparison made;
  std::stable_sort(messages.begin(), messages.end(),
                   [](const peer_message& a, const peer_message& b) { return a.peer < b.peer; });
  std::vector<std::span<const peer_message>> groups;
  for (std::size_t i = 0, j = 0; i < messages.size(); i = j) {
    while (j < messages.size() && messages[j].peer == messages[i].peer) ++j;
    groups.push_back(std::span(messages).subspan(i, j - i));
  }
  made.peers = groups.size();
  if (groups.empty()) return made;
  // The work of the first peer is an estimate for all.
  std::size_t distance = 1;
  const std::uint64_t before = peers.work();
  for (std::size_t i = 0; i < groups.size(); i += distance) {
    const int peer = groups[i].front().peer;
    const std::vector<peer_message> theirs = peers.transfers(peer, rank);
    ++made.compared;
    made.messages += groups[i].size();
    compare(rank, peer, true, select(groups[i], true), select(theirs, false), made);
    if (made.ok()) compare(rank, peer, false, select(groups[i], false), select(theirs, true), made);
    if (!made.ok()) return made;
    const std::uint64_t work = peers.work() - before;
    if (i == 0) distance = static_cast<std::size_t>(1 + work * groups.size() / max_work);
    if (work > max_work) break;
  }
  return made;
}

}  // namespace tutti::proof
