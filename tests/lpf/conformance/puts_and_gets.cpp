// SPDX-License-Identifier: Apache-2.0
//
// Tests puts and gets: every process simulates random supersteps and compares byte by byte.
// Overlapping writes must give the result of some order of whole messages.
#include <algorithm>

#include "suite.hpp"

namespace {

using suite::dice;
using suite::guarded;
using suite::process;

struct message {
  bool is_get;
  unsigned origin, from, to;  // bytes go from `from` to `to`; one of them is the origin
  std::size_t source, target, size;
};

constexpr std::size_t sizes[] = {0,  1,   2,    3,    7,    8,    9,    15,    16,    31,    63,   64,
                                 65, 333, 1023, 1024, 1025, 4096, 4097, 16383, 16384, 16385, 65536};

enum class kind {
  all_pairs,
  to_itself,
  many_small,
  few_large,
  to_one,
  from_one,
  single_message,
  one_small,
  ring,
  mixed
};
constexpr kind kinds[] = {kind::all_pairs, kind::to_itself, kind::many_small,     kind::few_large,
                          kind::to_one,    kind::from_one,  kind::single_message, kind::one_small,
                          kind::ring,      kind::mixed};

// Draws the messages of a superstep by all processes; written areas are disjoint, with gaps.
std::vector<message> draw(dice& d, kind k, unsigned p, std::size_t area) {
  std::vector<message> made;
  std::vector<std::size_t> filled(p, 0);
  const auto add = [&](unsigned from, unsigned to, std::size_t size) {
    size = std::min(size, area);
    const std::size_t at = filled[to] + (d.below(3) == 0 ? d.below(17) : 0);
    if (at + size > area) return;
    filled[to] = at + size;
    const bool gets = d.below(2) == 0;
    made.push_back({gets, gets ? to : from, from, to, d.below(area - size + 1), at, size});
  };
  const auto any = [&] { return static_cast<unsigned>(d.below(p)); };
  const auto some_size = [&] { return sizes[d.below(std::size(sizes))]; };
  const unsigned one = any();
  switch (k) {
    case kind::all_pairs:
      for (unsigned i = 0; i < std::min(p, 33u); ++i)
        for (unsigned j = 0; j < p; ++j) add((j + i) % p, j, d.below(area / p + 1));
      break;
    case kind::to_itself:
      for (unsigned i = 0; i < p; ++i)
        for (int n = 0; n < 3; ++n) add(i, i, some_size());
      break;
    case kind::many_small:
      for (unsigned i = 0; i < std::max(400u, 8 * p); ++i) add(any(), any(), d.below(10));
      break;
    case kind::few_large:
      for (int i = 0; i < 6; ++i) add(any(), any(), area / 3 + d.below(5));
      break;
    case kind::to_one:
      for (unsigned i = 0; i < 2 * p; ++i) add(i % p, one, d.below(area / p + 1));
      break;
    case kind::from_one:
      for (unsigned i = 0; i < 2 * p; ++i) add(one, i % p, some_size());
      break;
    case kind::single_message:
      add(any(), any(), some_size());
      break;
    case kind::one_small:
      for (unsigned i = 0; i < p; ++i)
        if (d.below(4) != 0) add(i, any(), d.below(9));
      break;
    case kind::ring:
      for (unsigned i = 0; i < p; ++i) add(i, (i + one) % p, some_size());
      break;
    case kind::mixed:
      for (unsigned i = 0; i < 8 * p; ++i) add(any(), any(), some_size());
      break;
  }
  for (std::size_t i = made.size(); i > 1; --i) std::swap(made[i - 1], made[d.below(i)]);
  return made;
}

void schedule(const process& me, const std::vector<message>& all, lpf_memslot_t source,
              lpf_memslot_t local_source, lpf_memslot_t target, lpf_memslot_t local_target) {
  for (const message& m : all) {
    if (m.origin != me.pid) continue;
    if (m.is_get)
      me.needs(lpf_get(me.ctx, m.from, source, m.source, local_target, m.target, m.size, LPF_MSG_DEFAULT),
               "lpf_get");
    else
      me.needs(lpf_put(me.ctx, local_source, m.source, m.to, target, m.target, m.size, LPF_MSG_DEFAULT),
               "lpf_put");
  }
}

// Two areas per process, which take turns as source and target. Every process keeps a model of all
// areas.
void random_supersteps(const process& me) {
  const std::size_t area = std::clamp<std::size_t>((std::size_t{1} << 22) / me.p / me.p, 256, 1 << 17);
  guarded memory[2] = {guarded(area), guarded(area)};
  std::vector<suite::bytes> model[2];
  for (int side = 0; side < 2; ++side)
    for (unsigned q = 0; q < me.p; ++q) {
      suite::write_text(model[side].emplace_back(area).data(), 2 * q + static_cast<unsigned>(side), area);
      if (q == me.pid) suite::write_text(memory[side].data(), 2 * q + static_cast<unsigned>(side), area);
    }
  lpf_memslot_t global[2], local[2];
  me.resize(4, 5000);
  for (int side = 0; side < 2; ++side) {
    me.needs(lpf_register_global(me.ctx, memory[side].data(), area, &global[side]), "lpf_register_global");
    me.needs(lpf_register_local(me.ctx, memory[side].data(), area, &local[side]), "lpf_register_local");
  }
  me.sync();
  dice d(me.p);
  const int rounds = me.p > 100 ? 1 : me.p > 8 ? 3 : 10 / static_cast<int>(suite::thinning()) + 1;
  for (int step = 0; step < rounds * static_cast<int>(std::size(kinds)); ++step) {
    const kind k = kinds[static_cast<std::size_t>(step) % std::size(kinds)];
    const int source_side = step % 2, target_side = 1 - source_side;
    const std::vector<message> all = draw(d, k, me.p, area);
    const bool by_local = d.below(2) == 0;
    schedule(me, all, global[source_side], by_local ? local[source_side] : global[source_side],
             global[target_side], by_local ? local[target_side] : global[target_side]);
    me.sync();
    for (const message& m : all)
      std::copy_n(model[source_side][m.from].data() + m.source, m.size,
                  model[target_side][m.to].data() + m.target);
    const std::string what =
        "superstep " + std::to_string(step) + " of kind " + std::to_string(static_cast<int>(k));
    for (int side = 0; side < 2; ++side) {
      me.equal(memory[side].data(), model[side][me.pid].data(), area,
               what + (side == source_side ? ", source" : ", target"));
      me.check(memory[side].intact(), what + " writes beyond an area");
    }
  }
}

void all_sizes(const process& me) {
  const std::size_t max_bytes = me.p > 100 ? 1025 : me.p > 16 ? 65536 : (1u << 20) + 1;
  std::vector<std::size_t> tested(std::begin(sizes), std::end(sizes));
  tested.insert(tested.end(), {1u << 20, (1u << 20) + 1});
  guarded source(max_bytes), put(max_bytes), got(max_bytes);
  suite::bytes wanted(max_bytes);
  lpf_memslot_t s[3];
  me.resize(3, 4);
  guarded* const areas[] = {&source, &put, &got};
  for (int i = 0; i < 3; ++i)
    me.needs(lpf_register_global(me.ctx, areas[i]->data(), max_bytes, &s[i]), "lpf_register_global");
  me.sync();
  const unsigned previous = (me.pid + me.p - 1) % me.p, next = (me.pid + 1) % me.p;
  for (const std::size_t n : tested) {
    if (n > max_bytes) continue;
    const std::size_t used = std::min(max_bytes, n + 64);
    suite::write_text(source.data(), n + me.pid, used);
    std::fill_n(put.data(), used, 0);
    std::fill_n(got.data(), used, 0);
    me.sync();  // other processes get from here
    me.needs(lpf_put(me.ctx, s[0], used - n, next, s[1], used - n, n, LPF_MSG_DEFAULT), "lpf_put");
    me.needs(lpf_get(me.ctx, next, s[0], 0, s[2], 0, n, LPF_MSG_DEFAULT), "lpf_get");
    me.sync();
    // The program may use the source again.
    std::fill_n(source.data(), used, 0xee);
    std::fill_n(wanted.begin(), used, 0);
    for (std::size_t i = used - n; i < used; ++i) wanted[i] = suite::byte_of_text(n + previous, i);
    me.equal(put.data(), wanted.data(), used, "put of " + std::to_string(n));
    std::fill_n(wanted.begin(), used, 0);
    for (std::size_t i = 0; i < n; ++i) wanted[i] = suite::byte_of_text(n + next, i);
    me.equal(got.data(), wanted.data(), used, "get of " + std::to_string(n));
    for (guarded* g : areas) me.check(g->intact(), "a canary, size " + std::to_string(n));
    me.sync();
  }
}

// Many more messages than processes, of one byte each, from all to one and back.
void many_small_messages(const process& me) {
  const std::size_t each = me.p > 16 ? 100 : 20000 / me.p;
  guarded source(each), gathered(each * me.p), got(each);
  lpf_memslot_t g, t, b;
  me.resize(3, 4 * each * me.p);
  me.needs(lpf_register_global(me.ctx, source.data(), each, &g), "lpf_register_global");
  me.needs(lpf_register_global(me.ctx, gathered.data(), gathered.size(), &t), "lpf_register_global");
  me.needs(lpf_register_local(me.ctx, got.data(), each, &b), "lpf_register_local");
  suite::write_text(source.data(), me.pid, each);
  me.sync();
  const unsigned one = me.p / 2;
  for (std::size_t i = 0; i < each; ++i) {
    me.needs(lpf_put(me.ctx, g, i, one, t, i * me.p + me.pid, 1, LPF_MSG_DEFAULT), "lpf_put");
    me.needs(lpf_get(me.ctx, one, g, i, b, each - 1 - i, 1, LPF_MSG_DEFAULT), "lpf_get");
  }
  me.sync();
  suite::bytes wanted(each * me.p, 0xcd);
  for (std::size_t i = 0; me.pid == one && i < wanted.size(); ++i)
    wanted[i] = suite::byte_of_text(i % me.p, i / me.p);
  me.equal(gathered.data(), wanted.data(), wanted.size(), "many puts");
  for (std::size_t i = 0; i < each; ++i) wanted[i] = suite::byte_of_text(one, each - 1 - i);
  me.equal(got.data(), wanted.data(), each, "many gets");
  me.check(source.intact() && gathered.intact() && got.intact(), "a canary");
}

// A message that writes part of an area. Its bytes identify it.
struct writer {
  std::size_t at, size;
  unsigned char mark;
};

// Returns whether some order of complete writes explains the bytes. The visible writer of a byte
// wrote it after all others that write it. This relation must have no cycle.
bool has_an_order(const unsigned char* seen, std::size_t n, const std::vector<writer>& all,
                  std::string& reason) {
  const std::size_t w = all.size();
  std::vector<std::vector<bool>> before(w, std::vector<bool>(w, false));
  std::size_t begin = n, end = 0;
  for (const writer& one : all) begin = std::min(begin, one.at), end = std::max(end, one.at + one.size);
  for (std::size_t i = 0; i < n; ++i) {
    if ((i < begin || i >= end) && seen[i] == 0) continue;
    std::size_t who = w;
    bool written = false;
    for (std::size_t k = 0; k < w; ++k) {
      const bool here = i >= all[k].at && i - all[k].at < all[k].size;
      written = written || here;
      if (here && all[k].mark == seen[i]) who = k;
    }
    if (who == w && (written || seen[i] != 0)) {
      reason = "byte " + std::to_string(i) + " is " + std::to_string(seen[i]) + ", which no message wrote";
      return false;
    }
    for (std::size_t k = 0; who < w && k < w; ++k)
      if (k != who && i >= all[k].at && i - all[k].at < all[k].size) before[k][who] = true;
  }
  std::vector<bool> done(w, false);
  for (std::size_t round = 0; round < w; ++round) {
    std::size_t first = w;
    for (std::size_t k = 0; k < w && first == w; ++k) {
      bool free = !done[k];
      for (std::size_t j = 0; j < w && free; ++j) free = done[j] || !before[j][k];
      if (free) first = k;
    }
    if (first == w) {
      reason = "no order of the messages explains it";
      return false;
    }
    done[first] = true;
  }
  return true;
}

void overlapping_writes(const process& me) {
  dice d(5 + me.p);
  const std::size_t area = me.p > 100 ? 4096 : 60000;
  const int rounds = me.p > 16 ? 4 : 40 / static_cast<int>(suite::thinning());
  const unsigned shown = std::min(me.p, 24u);  // number of writers, and of targets
  guarded memory(area);
  constexpr unsigned each = 5;
  lpf_memslot_t target, sources;
  guarded source(area * each);
  for (unsigned k = 0; k < each; ++k)
    std::fill_n(source.data() + k * area, area, static_cast<unsigned char>(1 + me.pid * each + k));
  me.resize(2, 40 * each);
  me.needs(lpf_register_global(me.ctx, memory.data(), area, &target), "lpf_register_global");
  me.needs(lpf_register_global(me.ctx, source.data(), source.size(), &sources), "lpf_register_global");
  me.sync();
  for (int round = 0; round < rounds; ++round) {
    std::fill_n(memory.data(), area, 0);
    me.sync();
    const std::size_t max_bytes = std::min(area, sizes[5 + d.below(std::size(sizes) - 5)]);
    const std::size_t begin = d.below(area - max_bytes + 1);
    std::vector<writer> mine;
    for (unsigned from = 0; from < shown; ++from)
      for (unsigned k = 0; k < each; ++k) {
        const unsigned to = static_cast<unsigned>(d.below(round % 2 == 0 ? 1 : shown));
        const std::size_t size = d.below(3) == 0 ? max_bytes : d.below(max_bytes + 1),
                          at = begin + d.below(max_bytes - size + 1);
        const bool gets = d.below(2) == 0;
        if (to == me.pid) mine.push_back({at, size, static_cast<unsigned char>(1 + from * each + k)});
        if (gets && to == me.pid)
          me.needs(lpf_get(me.ctx, from, sources, k * area, target, at, size, LPF_MSG_DEFAULT), "lpf_get");
        if (!gets && from == me.pid)
          me.needs(lpf_put(me.ctx, sources, k * area, to, target, at, size, LPF_MSG_DEFAULT), "lpf_put");
      }
    me.sync();
    std::string reason;
    if (!has_an_order(memory.data(), area, mine, reason))
      me.fail("round " + std::to_string(round) + ", up to " + std::to_string(max_bytes) +
              " bytes: " + reason);
    me.check(memory.intact(), "a canary");
  }
}

constexpr suite::entry all[] = {
    {"all_sizes", all_sizes},
    {"random_supersteps", random_supersteps},
    {"many_small_messages", many_small_messages},
    {"overlapping_writes", overlapping_writes},
};

}  // namespace

const std::span<const suite::entry> suite::tests(all);
