// SPDX-License-Identifier: Apache-2.0
//
// The checker is checked: correct schedules pass, and each schedule that is spoilt at one place is found out,
// at every place of every algorithm. A change that leaves an equivalent schedule must be one that this test
// can tell to be equivalent, by looking at the accesses of the unspoilt run.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "check/prove.hpp"

namespace tutti::check {
namespace {

const pure_algorithm& algorithm(std::string_view name) {
  for (const pure_algorithm* a : catalogue())
    if (a->name == name) return *a;
  throw std::invalid_argument(std::string(name));
}

struct subject {
  std::string name;
  plan call;
  std::vector<schedule> schedules;
  outcome unspoilt;

  subject(const pure_algorithm& a, int ranks) : name(std::string(a.name) + " of " + std::to_string(ranks)) {
    wish w;
    w.what = a.what;
    w.ranks = ranks;
    w.root = ranks / 2;
    w.in_place = demands(a.needs, restriction::in_place);
    w.ordered = combines(a.what) && !demands(a.needs, restriction::commutative);
    w.knobs = a.usual();
    for (const knob_range& k : a.parameters)
      if (k.which == knob::segment) w.knobs[static_cast<std::size_t>(k.which)] = std::max(16u, k.least);
    w.count = a.what == collective::barrier ? 0 : static_cast<std::size_t>(2 * ranks + 3);
    w.blocks = blocks_are::even;  // and no message is empty
    if (demands(a.needs, restriction::inter)) w.first_group = ranks / 2;
    w.graph = 2;
    call = make_plan(w);
    schedules = write_all(a.write, call);
    unspoilt = run_abstract(call, schedules, {.symbols = true, .record = true});
  }
};

// --- what the unspoilt run did
// ----------------------------------------------------------------------------------------------------

struct use {
  buffer where;
  std::size_t first, end;
  bool writes;
};

// Accesses of a rank's round that are its own; a put's target is its peer's.
std::vector<use> uses_of(const plan& p, int rank, const traced_round& r, int only_step = -1) {
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

bool collide(const std::vector<use>& a, const std::vector<use>& b) {
  for (const use& x : a)
    for (const use& y : b)
      if ((x.writes || y.writes) && x.where == y.where && x.first < y.end && y.first < x.end) return true;
  return false;
}

// Steps that were executed, and with how many elements at most.
std::map<std::uint32_t, std::size_t> executed(const std::vector<traced_round>& rounds) {
  std::map<std::uint32_t, std::size_t> all;
  for (const traced_round& r : rounds)
    for (const traced_step& s : r.steps)
      all[s.step] = std::max({all[s.step], s.source.count, s.target.count});
  return all;
}

// How far a scratch buffer of a rank is used.
std::size_t reach(const std::vector<traced_round>& rounds, buffer which) {
  std::size_t end = 0;
  for (const traced_round& r : rounds)
    for (const traced_step& s : r.steps)
      for (const traced_place* p : {&s.source, &s.other, &s.target})
        if (p->where == which && p->count > 0 && s.kind != step_kind::put)
          end = std::max(end, p->first + p->count);
  return end;
}

// Whether two runs touched the same elements in the same order.
bool same_accesses(const trace& a, const trace& b) {
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

// --- spoiling
// ---------------------------------------------------------------------------------------------------------------------

struct tally {
  int found = 0, equivalent = 0;
};

class spoiler {
 public:
  explicit spoiler(const subject& s, tally& t) : subject_(s), tally_(t) {}

  // Runs with one rank's schedule replaced. `harmless`: why this is no fault; then none may be found.
  void expect_found(int rank, schedule spoilt, const std::string& how, bool harmless = false,
                    const schedule* without_it = nullptr) {
    auto all = subject_.schedules;
    all[static_cast<std::size_t>(rank)] = std::move(spoilt);
    const outcome o = machine_.run(subject_.call, all, {.symbols = true, .record = true});
    // A place that is named otherwise, but is the same: a packed one, where all blocks are as long.
    if (o.ok()) harmless = harmless || same_accesses(o.recorded, subject_.unspoilt.recorded);
    // A step that nothing needs: it copies what its target holds already.
    if (o.ok() && !harmless && without_it != nullptr) {
      all[static_cast<std::size_t>(rank)] = *without_it;
      harmless = machine_.run(subject_.call, all).ok();
    }
    (harmless ? tally_.equivalent : tally_.found) += 1;
    EXPECT_EQ(o.ok(), harmless) << subject_.name << ", rank " << rank << ": " << how
                                << (o.ok() ? "" : ": " + o.faults[0].what);
  }

 private:
  const subject& subject_;
  tally& tally_;
  abstract_machine machine_;
};

// Takes step `at` out of its round.
schedule without(schedule s, std::uint32_t at) {
  for (item& i : s.items) {
    if (i.kind != item_kind::round) continue;
    if (at < i.first) {
      --i.first;
    } else if (at < i.first + i.sends) {
      --i.sends;
    } else if (at < i.first + i.sends + i.recvs) {
      --i.recvs;
    } else if (at < i.first + i.sends + i.recvs + i.locals) {
      --i.locals;
    }
  }
  s.steps.erase(s.steps.begin() + at);
  return s;
}

// A local step behind those of the round that `at` is in.
schedule with_local(schedule s, std::uint32_t at, const step& more) {
  std::uint32_t end = 0;
  for (item& i : s.items) {
    if (i.kind != item_kind::round) continue;
    const std::uint32_t size = i.sends + i.recvs + i.locals;
    if (at >= i.first && at < i.first + size) {
      end = i.first + size;
      ++i.locals;
    } else if (at < i.first) {
      ++i.first;
    }
  }
  s.steps.insert(s.steps.begin() + end, more);
  return s;
}

void spoil_steps(const subject& s, int rank, tally& t) {
  spoiler spoil(s, t);
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unspoilt.recorded[static_cast<std::size_t>(rank)];
  const auto used = executed(rounds);
  for (std::uint32_t i = 0; i < good.steps.size(); ++i) {
    const step& one = good.steps[i];
    const bool never = !used.contains(i);         // as in a loop of no trips
    const bool empty = never || used.at(i) == 0;  // or nothing is in what it moves
    const auto spoilt = [&](auto&& change) {
      schedule bad = good;
      change(bad.steps[i]);
      return bad;
    };
    const std::string at = " of step " + std::to_string(i);
    switch (one.kind) {
      case step_kind::recv_reduce:
        spoil.expect_found(rank, spoilt([](step& b) { b.received_left = !b.received_left; }),
                           "operands swapped" + at, empty || !s.call.ordered);
        break;
      case step_kind::reduce:
        spoil.expect_found(rank, spoilt([](step& b) { std::swap(b.source, b.other); }),
                           "operands swapped" + at, empty || !s.call.ordered);
        break;
      default:
        break;
    }
    if (!is_local(one.kind)) {
      spoil.expect_found(rank, without(good, i), "dropped" + at, never);
      spoil.expect_found(rank, spoilt([&](step& b) {
                           ++b.peer.base;
                           if (b.peer.is_constant()) b.peer.base %= s.call.ranks;
                         }),
                         "another peer" + at, never);
    }
    if (one.kind == step_kind::recv_reduce || one.kind == step_kind::reduce) {
      step twice{step_kind::reduce, false, {}, one.target, one.target, one.target};
      spoil.expect_found(rank, with_local(good, i, twice), "counted twice" + at, empty);
    }
  }
}

// --- blocks: the next block is meant, or a scratch is one block short
// -------------------------------------------------------------

void spoil_places(const subject& s, int rank, tally& t) {
  spoiler spoil(s, t);
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unspoilt.recorded[static_cast<std::size_t>(rank)];
  const auto used = executed(rounds);
  for (std::uint32_t i = 0; i < good.steps.size(); ++i) {
    const bool never = !used.contains(i) || used.at(i) == 0;
    for (place step::*which : {&step::source, &step::other, &step::target}) {
      const step_kind kind = good.steps[i].kind;
      const bool has = which == &step::target  ? kind != step_kind::send && kind <= step_kind::reduce
                       : which == &step::other ? kind == step_kind::reduce
                                               : kind != step_kind::recv && kind <= step_kind::reduce;
      if (!has || kind == step_kind::signal || kind == step_kind::await_signal) continue;
      schedule bad = good;
      ++(bad.steps[i].*which).first.base;
      const schedule less = kind == step_kind::copy ? without(good, i) : good;
      spoil.expect_found(rank, bad, "the next block at step " + std::to_string(i), never,
                         kind == step_kind::copy ? &less : nullptr);
    }
  }
  for (int n = 0; n < scratch_count; ++n) {
    if (good.scratch[n].blocks == 0) continue;
    schedule bad = good;
    --bad.scratch[n].blocks;
    const auto which = static_cast<buffer>(static_cast<int>(buffer::scratch0) + n);
    std::size_t block = s.call.counts[static_cast<std::size_t>(rank)];
    if (good.scratch[n].how == table::split)
      block = (block + static_cast<std::size_t>(good.parts) - 1) / good.parts;
    const layout& l = good.scratch[n].how == table::in ? s.call.in[static_cast<std::size_t>(rank)]
                                                       : s.call.out[static_cast<std::size_t>(rank)];
    if (good.scratch[n].how == table::in || good.scratch[n].how == table::out)
      block = *std::max_element(l.counts.begin(), l.counts.end());
    const bool larger_than_needed =
        reach(rounds, which) <= static_cast<std::size_t>(bad.scratch[n].blocks) * block;
    spoil.expect_found(rank, bad, "scratch too small", larger_than_needed);
  }
}

// --- order: neighbouring rounds swapped or merged, and writes into what is being sent
// ---------------------------------------------

bool share_a_direction(const traced_round& a, const traced_round& b) {
  for (const traced_step& x : a.steps)
    for (const traced_step& y : b.steps)
      if (!is_local(x.kind) && !is_local(y.kind) && x.peer == y.peer &&
          (x.kind == step_kind::send) == (y.kind == step_kind::send))
        return true;
  return false;
}

void spoil_order(const subject& s, int rank, tally& t) {
  abstract_machine machine;
  const schedule& good = s.schedules[static_cast<std::size_t>(rank)];
  const auto& rounds = s.unspoilt.recorded[static_cast<std::size_t>(rank)];
  const auto round_with = [&](const item& i) {
    for (const traced_round& r : rounds)
      for (const traced_step& one : r.steps)
        if (one.step >= i.first && one.step < i.first + i.sends + i.recvs + i.locals) return &r;
    return static_cast<const traced_round*>(nullptr);
  };
  const auto run = [&](const schedule& bad) {
    auto all = s.schedules;
    all[static_cast<std::size_t>(rank)] = bad;
    return machine.run(s.call, all);
  };
  for (std::size_t i = 0; i + 1 < good.items.size(); ++i) {
    if (good.items[i].kind != item_kind::round || good.items[i + 1].kind != item_kind::round) continue;
    const traced_round *first = round_with(good.items[i]), *second = round_with(good.items[i + 1]);
    if (first == nullptr || second == nullptr) continue;
    const bool dependent = collide(uses_of(s.call, rank, *first), uses_of(s.call, rank, *second));
    schedule swapped = good;
    std::swap(swapped.items[i], swapped.items[i + 1]);
    // Rounds that touch nothing of one another may be swapped, unless somebody waits for their order.
    outcome o = run(swapped);
    const bool reordered = dependent || share_a_direction(*first, *second);
    ++(o.ok() ? t.equivalent : t.found);
    EXPECT_TRUE(!o.ok() || !reordered) << s.name << ", rank " << rank << ": rounds swapped at item " << i;
    // Merged: all transfers at once, then all local steps. Where the first has local steps, they would come
    // too late, so that what the second sends or takes of theirs is what makes them depend.
    schedule merged = good;
    const item a = good.items[i], b = good.items[i + 1];
    std::vector<step> steps;
    const auto take = [&](const item& from, std::uint32_t skip, std::uint32_t n) {
      const auto begin = good.steps.begin() + from.first + skip;
      steps.insert(steps.end(), begin, begin + n);
    };
    take(a, 0, a.sends);
    take(b, 0, b.sends);
    take(a, a.sends, a.recvs);
    take(b, b.sends, b.recvs);
    take(a, a.sends + a.recvs, a.locals);
    take(b, b.sends + b.recvs, b.locals);
    std::copy(steps.begin(), steps.end(), merged.steps.begin() + a.first);
    if (b.first != a.first + a.sends + a.recvs + a.locals) continue;
    merged.items[i].sends = a.sends + b.sends;
    merged.items[i].recvs = a.recvs + b.recvs;
    merged.items[i].locals = a.locals + b.locals;
    merged.items[i + 1] = item{};
    merged.items[i + 1].first = static_cast<std::uint32_t>(a.first + steps.size());
    // What the transfers of the second touch and the first writes, or the other way round.
    std::vector<use> early = uses_of(s.call, rank, *first), late;
    for (const traced_step& one : second->steps)
      if (!is_local(one.kind)) {
        const auto more = uses_of(s.call, rank, *second, static_cast<int>(one.step));
        late.insert(late.end(), more.begin(), more.end());
      }
    o = run(merged);
    ++(o.ok() ? t.equivalent : t.found);
    bool depends = collide(early, late);
    if (s.call.what == collective::barrier) {
      // What a message says there is that its sender has heard of others. Among a power of two no message of
      // dissemination is dispensable; among others some are, and then nothing is expected.
      if (!std::has_single_bit(static_cast<unsigned>(s.call.ranks))) continue;
      depends = true;
    }
    EXPECT_EQ(!o.ok(), depends) << s.name << ", rank " << rank << ": rounds merged at item " << i
                                << (o.ok() ? "" : ": " + o.faults[0].what);
  }
  for (const item& i : good.items) {
    if (i.kind != item_kind::round || i.sends == 0 || i.recvs == 0) continue;
    const traced_round* r = round_with(i);
    if (r == nullptr) continue;
    const auto sent =
        std::find_if(r->steps.begin(), r->steps.end(), [](auto& x) { return x.kind == step_kind::send; });
    const auto taken = std::find_if(r->steps.begin(), r->steps.end(), [](auto& x) {
      return x.kind == step_kind::recv || x.kind == step_kind::recv_reduce;
    });
    if (sent == r->steps.end() || taken == r->steps.end() || sent->source.count == 0) continue;
    schedule bad = good;
    bad.steps[taken->step].target = bad.steps[sent->step].source;
    const outcome o = run(bad);
    ++t.found;
    EXPECT_FALSE(o.ok()) << s.name << ", rank " << rank << ": receives into what it sends, step "
                         << taken->step;
  }
}

constexpr std::string_view subjects[] = {"allgather/bruck",
                                         "allgather/linear",
                                         "allgather/ring",
                                         "allgather/sparbit",
                                         "allgatherv/circulant",
                                         "allgatherv/ring",
                                         "allreduce/across",
                                         "allreduce/dual_root",
                                         "allreduce/rabenseifner",
                                         "allreduce/recursive_doubling",
                                         "allreduce/ring",
                                         "allreduce/segmented_ring",
                                         "alltoall/across",
                                         "alltoall/bruck",
                                         "alltoall/pairwise",
                                         "alltoall/scattered",
                                         "alltoallv/in_place_pairwise",
                                         "alltoallv/scattered",
                                         "alltoallw/scattered",
                                         "barrier/dissemination",
                                         "bcast/across",
                                         "bcast/chain",
                                         "bcast/knomial",
                                         "bcast/scatter_ring",
                                         "exscan/recursive_doubling",
                                         "gather/knomial",
                                         "gatherv/knomial",
                                         "gatherv/linear",
                                         "neighbor_allgatherv/scattered",
                                         "neighbor_alltoallv/scattered",
                                         "reduce/chain",
                                         "reduce/knomial",
                                         "reduce/rabenseifner",
                                         "reduce_scatter/butterfly",
                                         "reduce_scatter/pairwise",
                                         "reduce_scatter/recursive_doubling",
                                         "reduce_scatter/recursive_halving",
                                         "reduce_scatter_block/ring",
                                         "scan/recursive_doubling",
                                         "scatter/knomial",
                                         "scatterv/linear"};

class mutations : public testing::TestWithParam<std::string_view> {
 protected:
  template <class Spoil>
  void everywhere(Spoil&& spoil) {
    tally t;
    for (const int ranks : {3, 4, 5, 8}) {
      const subject s(algorithm(GetParam()), ranks);
      ASSERT_TRUE(s.unspoilt.ok()) << s.name << ": " << s.unspoilt.faults[0].what;
      for (int r = 0; r < ranks; ++r) spoil(s, r, t);
    }
    RecordProperty("found", t.found);
    RecordProperty("equivalent", t.equivalent);
  }
};

TEST_P(mutations, of_steps_are_found) { everywhere(spoil_steps); }
TEST_P(mutations, of_places_are_found) { everywhere(spoil_places); }
TEST_P(mutations, of_order_are_found) { everywhere(spoil_order); }
TEST_P(mutations, of_claims_are_found) {
  for (const int ranks : {3, 4, 5, 8}) {
    pure_algorithm a = algorithm(GetParam());
    const subject s(a, ranks);
    const costs& cost = s.unspoilt.measured;
    const std::string rounds = std::to_string(cost.rounds), bytes = std::to_string(cost.most_bytes()),
                      scratch = std::to_string(cost.most_scratch());
    a.rounds = rounds;
    a.bytes = bytes;
    a.scratch = scratch;
    EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
    for (std::string_view pure_algorithm::*claim : {&pure_algorithm::rounds, &pure_algorithm::bytes}) {
      const std::string right(a.*claim);
      for (const std::string& wrong :
           {right + " - 1", right + " + 1", "<= " + right + " - 1", right + " / 0 * 0"}) {
        a.*claim = wrong;
        EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name << ": " << wrong;
      }
      const std::string bound = "<= " + right + " + 1";
      a.*claim = bound;
      EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
      a.*claim = claim == &pure_algorithm::rounds ? std::string_view(rounds) : std::string_view(bytes);
    }
    const std::string less = scratch + " - 1", more = scratch + " + 1", unknown = "2 * nn";
    a.scratch = less;
    EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name;
    a.scratch = more;
    EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
    a.scratch = unknown;
    EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name;
  }
}
INSTANTIATE_TEST_SUITE_P(all, mutations, testing::ValuesIn(subjects), [](const auto& info) {
  std::string name(info.param);
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
});

}  // namespace
}  // namespace tutti::check
