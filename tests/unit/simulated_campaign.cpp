// SPDX-License-Identifier: Apache-2.0
//
// Tests trees that are grown from simulated times. The oracle simulates every candidate of every
// call, without leaving any out, and compares the choice of the trees with the best of them.
//
// Longer than a file should be: all properties of a campaign are tested against one oracle.
#include "tuning/simulated_campaign.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "selection/resolve.hpp"
#include "simulation/read_machine.hpp"
#include "simulation/simulator.hpp"
#include "transport/endpoint.hpp"
#include "tuning/candidates.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

using enum collective;
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double floor_of_campaign = 0.01;

const document& base() {
  static const document d = builtin_document("common");
  return d;
}

// Two machines of one network: nodes of one rank, and of four.
simulated_options small_campaign(bool parameters) {
  const auto machine = [](int ranks_per_node) {
    simulation::machine_result r =
        simulation::read_machine(simulation::builtin_machine("fast-cluster-8"), "fast");
    if (!r.good()) throw std::runtime_error(r.faults.front().text());
    r.made.ranks_per_node = ranks_per_node;
    return simulated_machine{"nodes of " + std::to_string(ranks_per_node), std::move(r.made)};
  };
  simulated_options o;
  o.machines = {machine(1), machine(4)};
  o.ranks = {4, 6, 8, 16};
  o.collectives = {barrier, bcast, allreduce, allgather, gatherv, neighbor_alltoallv};
  o.sizes = {8, 4096, 262144};
  o.parameters = parameters;
  o.natives = {peer_mpi::open_mpi, peer_mpi::mpich};
  return o;
}

simulated_result run_of(const simulated_options& o, std::map<std::string, double>* store = nullptr) {
  const known_times times{[store](const std::string& key) {
                            if (store == nullptr || !store->contains(key)) return std::optional<double>();
                            return std::optional<double>(store->at(key));
                          },
                          [store](const std::string& key, double seconds) {
                            if (store != nullptr) store->emplace(key, seconds);
                          }};
  double last = 0;
  simulated_result r = run_simulated_campaign(base(), o, times, [&](const std::string& what, double part) {
    EXPECT_FALSE(what.empty());
    EXPECT_TRUE(part >= last && part < 1 + 1e-9) << part << " after " << last;
    last = part;
  });
  EXPECT_NEAR(last, 1, 1e-9);
  EXPECT_EQ(faults_of(base(), r.trees.made), "") << write_tree(r.trees.made);
  return r;
}

// One call, and the times that the oracle simulates for it.
class oracle {
 public:
  oracle(const simulation::machine& m, int ranks, collective what, std::size_t size) : on_(m, ranks) {
    call_.what = what;
    call_.count = what == barrier ? 0 : size / call_.element_bytes;
    context = simulation::context_of(call_, on_.links());
  }
  double us(const leaf& l) { return 1e6 * on_.run(call_, l.chosen).seconds; }
  double us(const leaf& composed, const selection& inner) {
    return 1e6 * on_.run(call_, composed.composed, inner).seconds;
  }
  // What a document chooses, without native collectives.
  double us(const document& d) {
    const selection by{std::make_shared<const document>(d), {}};
    const leaf& composed = decide(d, context, tree_half::composition);
    return composed.what == leaf::kind::composed ? us(composed, by) : us(decide(d, context));
  }
  double us(peer_mpi mpi) {
    const auto its = peer_choice(mpi, context);
    return its->composed.which != nullptr ? 1e6 * on_.run(call_, its->composed, peer_selection(mpi)).seconds
                                          : 1e6 * on_.run(call_, its->pure).seconds;
  }
  std::vector<candidate> candidates(bool parameters) const {
    return pure_candidates(context, std::max<std::size_t>(1, call_.count), parameters, {});
  }
  std::vector<candidate> compositions(bool parameters) const {
    return composed_candidates(context, std::max<std::size_t>(1, call_.count), parameters);
  }

  selection_context context;

 private:
  simulation::simulated_call call_;
  simulation::simulator on_;
};

// Calls `test` for every call between nodes of a campaign that the trees distinguish.
template <class Test>
void for_each_call(const simulated_options& o, const Test& test) {
  for (const simulated_machine& m : o.machines)
    for (const int p : o.ranks)
      for (const collective what : o.collectives) {
        if (is_neighborhood(what) || p <= m.model.ranks_per_node || p % m.model.ranks_per_node != 0) continue;
        for (const std::size_t size : o.sizes) {
          SCOPED_TRACE(std::string(name_of(what)) + " of " + std::to_string(p) + " ranks, " + m.name + ", " +
                       std::to_string(size) + " bytes");
          oracle one(m.model, p, what, size);
          test(one, what == barrier ? 0 : size);
          if (what == barrier) break;
        }
      }
}

const cell* cell_of(const simulated_result& r, const selection_context& s, std::size_t size) {
  for (const cell& c : r.cells)
    if (c.context.call.what == s.call.what && c.context.call.ranks == s.call.ranks &&
        c.context.nodes == s.nodes && c.size == size)
      return &c;
  return nullptr;
}

class simulated_trees : public testing::TestWithParam<bool> {};

TEST_P(simulated_trees, choose_the_best_of_all_candidates_within_the_required_gain) {
  const simulated_options o = small_campaign(GetParam());
  const simulated_result r = run_of(o);
  const document both = overlay(base(), r.trees.made);
  const selection by{std::make_shared<const document>(both), {}};
  EXPECT_GT(r.simulated, 0u);
  EXPECT_FALSE(r.trees.changes.empty());
  int calls = 0, kept = 0, faster = 0;
  for_each_call(o, [&](oracle& one, std::size_t size) {
    const cell* const timed = cell_of(r, one.context, size);
    ASSERT_NE(timed, nullptr);
    double best = infinite;
    leaf best_leaf;
    for (const candidate& c : one.candidates(o.parameters)) {
      const double us = one.us(c.use);
      if (us < best) best = us, best_leaf = c.use;
      for (const timing& t : timed->pure)
        if (same(t.use, c.use) && !same(c.use, decide(base(), one.context))) {
          EXPECT_NEAR(t.us, us, 1e-6 * us) << c.name;
        }
    }
    const bool was_kept = std::any_of(timed->pure.begin(), timed->pure.end(),
                                      [&](const timing& t) { return same(t.use, best_leaf); });
    for (const candidate& c : one.compositions(o.parameters)) best = std::min(best, one.us(c.use, by));
    const double chosen = one.us(both), before = one.us(base());
    // A vector form has one choice for all sizes.
    const bool is_vector = is_vector_form(one.context.call.what);
    EXPECT_LE(chosen, before * (is_vector ? 1 + floor_of_campaign : 1 + 1e-9));
    ++calls;
    kept += was_kept;
    faster += chosen < before / (1 + o.gain);
    // A composition needs the gain over the best algorithm, and that one over the base.
    const double required = (1 + o.gain) * (1 + floor_of_campaign);
    if (was_kept && !is_vector) {
      EXPECT_LE(chosen, best * required * required) << label(best_leaf);
    }
  });
  EXPECT_GT(kept, calls * 3 / 4) << "of " << calls;
  EXPECT_GT(faster, calls / 4) << "of " << calls;
}

TEST_P(simulated_trees, replace_native_collectives_only_for_the_required_gain) {
  const simulated_options o = small_campaign(GetParam());
  const simulated_result r = run_of(o);
  const document both = overlay(base(), r.trees.made);
  int replaced = 0, left = 0;
  for_each_call(o, [&](oracle& one, std::size_t size) {
    const double native = std::min(one.us(peer_mpi::open_mpi), one.us(peer_mpi::mpich));
    selection_context offered = one.context;
    offered.native = true;
    const leaf &composed = decide(both, offered, tree_half::composition), &pure = decide(both, offered);
    const bool is_vector = is_vector_form(one.context.call.what);
    if (composed.what == leaf::kind::composed || pure.what != leaf::kind::native) {
      ++replaced;
      const selection by{std::make_shared<const document>(both), {}};
      const double own = composed.what == leaf::kind::composed ? one.us(composed, by) : one.us(pure);
      // The mean over all sizes counts for a vector form.
      EXPECT_LE(own * (is_vector ? 1 : 1 + o.gain_over_native), native * (1 + floor_of_campaign))
          << label(composed.what == leaf::kind::composed ? composed : pure);
    } else {
      ++left;
      if (is_vector) return;
      for (const timing& t : cell_of(r, one.context, size)->pure) {
        EXPECT_GE(t.us * (1 + o.gain_over_native) * (1 + floor_of_campaign), native) << label(t.use);
      }
    }
  });
  EXPECT_GT(replaced, 0);
  EXPECT_GT(left, 0);
  // Without these MPIs no region is for calls with a native collective.
  simulated_options without = o;
  without.natives.clear();
  const document alone = overlay(base(), run_of(without).trees.made);
  for_each_call(o, [&](oracle& one, std::size_t) {
    selection_context offered = one.context;
    offered.native = true;
    EXPECT_EQ(label(decide(alone, offered)), label(decide(base(), offered)));
  });
}

// Over one MPI the native collectives of the other do not count, and the choices hold only there.
TEST(simulated_campaigns, replace_the_native_collectives_of_one_mpi) {
  const simulated_options two = small_campaign(false);
  const document over_both = overlay(base(), run_of(two).trees.made);
  for (const peer_mpi mpi : two.natives) {
    SCOPED_TRACE(name_of(mpi));
    int only_here = 0;
    simulated_options o = two;
    o.natives = {mpi};
    const document both = overlay(base(), run_of(o).trees.made);
    const engine_condition holds[] = {{name_of(mpi), "", true}};
    for_each_call(o, [&](oracle& one, std::size_t) {
      selection_context offered = one.context, elsewhere = one.context;
      offered.native = elsewhere.native = true;
      offered.engine = engine_bits(both, holds);
      for (const tree_half half : {tree_half::pure, tree_half::composition})
        EXPECT_EQ(label(decide(both, elsewhere, half)), label(decide(base(), elsewhere, half)));
      const leaf &composed = decide(both, offered, tree_half::composition), &pure = decide(both, offered);
      if (composed.what != leaf::kind::composed && pure.what == leaf::kind::native) return;
      const selection by{std::make_shared<const document>(both), {}};
      const double own = composed.what == leaf::kind::composed ? one.us(composed, by) : one.us(pure);
      EXPECT_LE(own * (is_vector_form(one.context.call.what) ? 1 : 1 + o.gain_over_native),
                one.us(mpi) * (1 + floor_of_campaign));
      if (decide(over_both, elsewhere, tree_half::composition).what != leaf::kind::composed &&
          decide(over_both, elsewhere).what == leaf::kind::native)
        ++only_here;
    });
    EXPECT_GT(only_here, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, simulated_trees, testing::Bool(),
                         [](const auto& info) { return info.param ? "all_parameters" : "defaults"; });

TEST(simulated_campaigns, are_the_same_with_several_threads) {
  simulated_options o = small_campaign(false);
  const simulated_result one = run_of(o);
  o.threads = 2;
  const simulated_result two = run_of(o);
  EXPECT_EQ(write_tree(one.trees.made), write_tree(two.trees.made));
  EXPECT_EQ(one.simulated, two.simulated);
  EXPECT_EQ(one.trees.changes.size(), two.trees.changes.size());
}

TEST(simulated_campaigns, leave_out_compositions_that_only_repeat_their_call) {
  std::map<std::string, double> store;
  run_of(small_campaign(false), &store);
  const auto count = [&](const std::string& machine, const std::string& what) {
    return std::count_if(store.begin(), store.end(), [&](const auto& one) {
      return one.first.starts_with(machine) && one.first.find(" composed " + what) != std::string::npos;
    });
  };
  for (const char* machine : {"nodes of 1", "nodes of 4"}) {
    EXPECT_EQ(count(machine, "blocking_by_nonblocking"), 0);
    EXPECT_EQ(count(machine, "staged_buffer"), 0);
    EXPECT_GT(count(machine, "pipeline"), 0);
  }
  EXPECT_EQ(count("nodes of 1", "node_leader"), 0);
  EXPECT_GT(count("nodes of 4", "node_leader"), 0);
}

TEST(simulated_campaigns, use_known_times) {
  const simulated_options o = small_campaign(false);
  std::map<std::string, double> store;
  const simulated_result first = run_of(o, &store);
  EXPECT_EQ(first.known, 0u);
  EXPECT_EQ(first.simulated, store.size());
  const simulated_result again = run_of(o, &store);
  EXPECT_EQ(again.simulated, 0u);
  EXPECT_EQ(again.known, first.simulated);
  EXPECT_EQ(write_tree(again.trees.made), write_tree(first.trees.made));
  // An interrupted run knows a part.
  std::map<std::string, double> part;
  for (const auto& one : store)
    if (part.size() < store.size() / 2) part.insert(one);
  const std::size_t half = part.size();
  const simulated_result rest = run_of(o, &part);
  EXPECT_EQ(rest.known, half);
  EXPECT_EQ(rest.simulated, store.size() - half);
  EXPECT_EQ(part, store);
  EXPECT_EQ(write_tree(rest.trees.made), write_tree(first.trees.made));
}

// The store holds an infinite time for a choice that took too long.
TEST(simulated_campaigns, an_infinite_known_time_is_no_time) {
  const simulated_options o = small_campaign(false);
  const simulated_result r = run_simulated_campaign(
      base(), o, {[](const std::string&) { return infinite; }, [](auto&, double) {}}, [](auto&, double) {});
  EXPECT_EQ(r.simulated, 0u);
  EXPECT_TRUE(r.cells.empty());
  EXPECT_TRUE(r.trees.changes.empty());
}

// A campaign that has seen fewer ranks simulates less, and finds choices that are as fast.
TEST(simulated_campaigns, leave_out_what_was_slow_with_fewer_ranks) {
  simulated_options o = small_campaign(true);
  o.machines.erase(o.machines.begin());
  o.collectives = {bcast, allreduce, allgather};
  const auto times_of = [&](std::vector<int> ranks, std::map<std::string, double>& store) {
    o.ranks = std::move(ranks);
    const simulated_result r = run_of(o, &store);
    std::vector<double> best;
    for (const cell& c : r.cells)
      if (c.context.call.ranks == 256) {
        best.push_back(infinite);
        for (const std::vector<timing>* all : {&c.pure, &c.composed})
          for (const timing& t : *all) best.back() = std::min(best.back(), t.us);
      }
    return best;
  };
  std::map<std::string, double> alone, with_fewer;
  const std::vector<double> all = times_of({256}, alone), some = times_of({16, 64, 256}, with_fewer);
  ASSERT_EQ(all.size(), o.collectives.size() * o.sizes.size());
  ASSERT_EQ(some.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_LE(some[i], 1.02 * all[i]) << i;
  std::erase_if(with_fewer, [](const auto& one) { return one.first.find(" 256 ") == std::string::npos; });
  EXPECT_LT(with_fewer.size(), alone.size() * 2 / 3);
}

// Two machines of one rank per node decide together, and one of four ranks per node does not.
TEST(simulated_campaigns, simulate_on_all_machines_what_was_fast_on_one_that_decides_with_them) {
  simulated_options o = small_campaign(false);
  o.machines.push_back(o.machines.front());
  o.machines.back().name = "others of 1";
  o.ranks = {16, 256};
  o.collectives = {alltoall};
  o.sizes = {8};
  o.natives = {};
  o.prune = infinite;
  std::set<std::string> asked;
  const auto time_of = [&](const std::string& key) -> std::optional<double> {
    asked.insert(key);
    const std::string fast = key.starts_with("nodes of 1 ")    ? "pairwise"
                             : key.starts_with("others of 1 ") ? "bruck"
                                                               : "scattered";
    return key.ends_with(" " + fast) ? 1e-6 : 1e-3;
  };
  run_simulated_campaign(base(), o, {time_of, [](auto&, double) {}}, [](auto&, double) {});
  const auto is_asked = [&](const std::string& machine, const std::string& name) {
    EXPECT_TRUE(asked.contains(machine + " 16 alltoall 8 " + name)) << machine << " " << name;
    return asked.contains(machine + " 256 alltoall 8 " + name);
  };
  for (const char* machine : {"nodes of 1", "others of 1"}) {
    EXPECT_TRUE(is_asked(machine, "pairwise")) << machine;
    EXPECT_TRUE(is_asked(machine, "bruck")) << machine;
    EXPECT_FALSE(is_asked(machine, "scattered")) << machine;
  }
  EXPECT_TRUE(is_asked("nodes of 4", "scattered"));
  EXPECT_FALSE(is_asked("nodes of 4", "bruck"));
}

// The messages of all pairs of 1536 ranks are too many, so the time of the former choice and that
// of the native collectives are not known. They may be the fastest.
TEST(simulated_campaigns, replace_nothing_whose_time_is_unknown) {
  simulated_options o = small_campaign(false);
  o.machines.erase(o.machines.begin());
  o.ranks = {1536};
  o.collectives = {alltoall};
  o.sizes = {8};
  const simulated_result r = run_of(o);
  EXPECT_GT(r.too_long, 0u);
  ASSERT_EQ(r.cells.size(), 1u);
  EXPECT_FALSE(r.cells[0].pure.empty());
  EXPECT_TRUE(r.trees.changes.empty()) << write_tree(r.trees.made);
}

// Exactly the choices whose estimate exceeds the limit are not simulated, and a later run knows
// that. The oracle has as little memory as the limit, and throws.
TEST(simulated_campaigns, the_limit_of_memory_is_part_of_the_options) {
  simulated_options o = small_campaign(false);
  o.machines.erase(o.machines.begin());
  o.ranks = {16};
  o.collectives = {allgather};
  o.sizes = {8};
  o.prune = infinite;
  const auto needs = [&](const leaf& l, double bytes) {
    simulation::simulator on(o.machines[0].model, 16);
    simulation::simulated_call c;
    c.what = allgather;
    c.count = 1;
    simulation::simulation_options how;
    how.max_memory = bytes;
    try {
      on.run(c, l.chosen, how);
      return false;
    } catch (const std::length_error&) {
      return true;
    }
  };
  o.max_memory = 100'000;
  std::map<std::string, double> store;
  const simulated_result limited = run_of(o, &store);
  std::size_t above = 0, below = 0;
  oracle one(o.machines[0].model, 16, allgather, 8);
  for (const candidate& c : one.candidates(false)) {
    const auto stored = store.find("nodes of 4 16 allgather 8 " + c.name);
    ASSERT_NE(stored, store.end()) << c.name;
    EXPECT_EQ(std::isnan(stored->second), needs(c.use, o.max_memory)) << c.name;
    ++(std::isnan(stored->second) ? above : below);
  }
  EXPECT_GT(above, 0u);
  EXPECT_GT(below, 0u);
  EXPECT_GE(limited.too_long, above);
  const simulated_result again = run_of(o, &store);
  EXPECT_EQ(again.simulated, 0u);
  EXPECT_EQ(write_tree(again.trees.made), write_tree(limited.trees.made));
}

// Ranks that leave a node partly empty are simulated only if no others are asked for.
TEST(simulated_campaigns, prefer_equal_nodes) {
  simulated_options o = small_campaign(false);
  o.collectives = {bcast};
  o.sizes = {4096};
  for (const cell& c : run_of(o).cells) EXPECT_NE(c.context.ranks_per_node, 0) << c.context.call.ranks;
  o.machines.erase(o.machines.begin());
  o.ranks = {6};
  const simulated_result alone = run_of(o);
  ASSERT_EQ(alone.cells.size(), 1u);
  EXPECT_EQ(alone.cells[0].context.ranks_per_node, 0);
  EXPECT_EQ(alone.cells[0].context.nodes, 2);
}

TEST(simulated_campaigns, name_the_numbers_of_ranks_that_they_leave_out) {
  simulated_options o = small_campaign(false);
  o.collectives = {bcast};
  EXPECT_EQ(run_of(o).left_out, (std::set<std::pair<std::size_t, int>>{{1, 6}}));
  // Nodes with different numbers of ranks are simulated if there are no others.
  o.machines.erase(o.machines.begin());
  o.ranks = {6};
  const simulated_result r = run_of(o);
  EXPECT_TRUE(r.left_out.empty());
  EXPECT_EQ(r.cells.size(), o.sizes.size());
}

// Without native collectives, the choices for 16 ranks hold for more.
TEST(simulated_campaigns, hold_for_more_ranks) {
  const simulated_options o = small_campaign(false);
  const document both = overlay(base(), run_of(o).trees.made);
  oracle most(o.machines[0].model, 16, allreduce, 4096), more(o.machines[0].model, 64, allreduce, 4096);
  EXPECT_EQ(label(decide(both, more.context)), label(decide(both, most.context)));
  EXPECT_NE(label(decide(both, more.context)), label(decide(base(), more.context)));
}

// What was simulated is decided by the trees alone, also where the choice of the base stays.
TEST(simulated_campaigns, decide_the_same_on_any_base) {
  const simulated_options o = small_campaign(false);
  const document made = run_of(o).trees.made, one = overlay(base(), made),
                 other = overlay(builtin_document("mpich-slow-network"), made);
  for_each_call(o, [&](oracle& call, std::size_t) {
    for (const bool native : {false, true})
      for (const tree_half half : {tree_half::pure, tree_half::composition}) {
        selection_context s = call.context;
        s.native = native;
        EXPECT_EQ(label(decide(one, s, half)), label(decide(other, s, half)));
      }
  });
}

TEST(simulated_campaigns, leave_other_numbers_of_ranks_and_sizes_as_they_are) {
  const simulated_options o = small_campaign(false);
  const document both = overlay(base(), run_of(o).trees.made);
  for (const auto& [ranks, size] : {std::pair{2, 4096}, {17, 4096}, {64, 4096}, {8, 0}, {8, 1 << 21}}) {
    oracle one(o.machines[0].model, ranks, allreduce, static_cast<std::size_t>(size));
    for (const bool native : {false, true})
      for (const tree_half half : {tree_half::pure, tree_half::composition}) {
        if (ranks > 16 && !native) continue;
        selection_context s = one.context;
        s.native = native;
        EXPECT_EQ(label(decide(both, s, half)), label(decide(base(), s, half))) << ranks << " " << size;
      }
  }
}

}  // namespace
}  // namespace tutti::tuning
