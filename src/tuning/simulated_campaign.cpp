// SPDX-License-Identifier: Apache-2.0
#include "tuning/simulated_campaign.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <ranges>
#include <shared_mutex>
#include <stdexcept>
#include <thread>

#include "engines/mpi/mpi_conditions.hpp"
#include "selection/resolve.hpp"
#include "simulation/simulator.hpp"
#include "tuning/candidates.hpp"
#include "tuning/contenders.hpp"
#include "tuning/promising_candidates.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

using simulation::simulated_call;

// Choices that send more messages are not simulated. A ring of a thousand ranks that passes every
// block twice is below it.
std::uint64_t max_messages(int ranks) noexcept {
  const auto p = static_cast<std::uint64_t>(ranks);
  return std::min<std::uint64_t>(2'200'000, 100'000 + 2 * p * p);
}

constexpr std::uint64_t max_rates = 100'000'000;  // about ten seconds
constexpr double infinite = std::numeric_limits<double>::infinity();

// A choice that takes so many times as long as the best known is not simulated to its end.
constexpr double worth_knowing = 1.5;
constexpr double enough = 4;
// From so many ranks on, only those candidates are simulated that were fast with fewer ranks.
constexpr int many_ranks = 256;

struct timed_cell : cell {
  double native_us = infinite;
};

// One collective on one machine with one number of ranks, in all sizes.
struct task {
  std::size_t machine;
  int ranks;
  collective what;
  std::vector<timed_cell> cells;
};

simulated_call simulated_call_of(collective what, std::size_t size) {
  simulated_call c;
  c.what = what;
  c.count = what == collective::barrier ? 0 : size / c.element_bytes;
  return c;
}

class simulated_campaign {
 public:
  simulated_campaign(const document& base, const simulated_options& options, const known_times& times,
                     const simulation_progress& report)
      : base_(base), options_(options), times_(times), report_(report) {}

  simulated_result run() {
    make_tasks();
    // Compositions have no pure algorithms to compare with before these are known, and call them.
    for (const bool many : {false, true})
      in_parallel(many, [this](simulation::simulator& on, task& t) { time_pure(on, t); });
    const auto inner = std::make_shared<const document>(
        overlay(base_, grow(base_, all_cells(), rules_without_native()).made));
    const selection by{inner, {}};
    for (const bool many : {false, true})
      in_parallel(many, [&](simulation::simulator& on, task& t) {
        time_compositions(on, t, by);
        time_natives(on, t);
      });

    result_.cells = all_cells();
    for (const task& t : tasks_)
      for (const timed_cell& c : t.cells)
        if (!c.pure.empty()) result_.origins.push_back({t.machine, c.native_us});
    result_.trees = grow(base_, result_.cells, rules_without_native());
    if (!options_.natives.empty()) {
      document declared = base_;
      const rules r = rules_over_native(declared);
      const grown over_native = grow(declared, cells_with_native(), r);
      result_.trees.made = overlay(result_.trees.made, over_native.made);
      result_.trees.changes.insert(result_.trees.changes.end(), over_native.changes.begin(),
                                   over_native.changes.end());
      result_.changes_over_native = over_native.changes.size();
    }
    result_.pruned = pruned_;
    result_.too_long = too_long_;
    return std::move(result_);
  }

 private:
  // Calls within one node are simulated on the machine with the largest nodes. Compositions make
  // such calls. The trees have no choice of their own for nodes with different numbers of ranks, if
  // there are equal ones (region_grower.cpp), so ranks that leave a node half empty are left out.
  void make_tasks() {
    int largest = 0;
    for (const simulated_machine& m : options_.machines) largest = std::max(largest, m.model.ranks_per_node);
    std::vector<task> of_equal_nodes, of_others;
    for (std::size_t m = 0; m < options_.machines.size(); ++m)
      for (const int p : options_.ranks) {
        const simulation::machine& model = options_.machines[m].model;
        const int nodes = (p + model.ranks_per_node - 1) / model.ranks_per_node;
        if (nodes == 1 && model.ranks_per_node != largest) continue;
        if (model.max_nodes() != 0 && nodes > model.max_nodes()) continue;
        const int of_finest = model.ranks_per_node / model.sockets;
        std::vector<task>& tasks = p <= of_finest ? tasks_ : p % of_finest == 0 ? of_equal_nodes : of_others;
        for (const collective what : options_.collectives)
          if (!is_neighborhood(what)) tasks.push_back({m, p, what, {}});
      }
    std::vector<task>& several = of_equal_nodes.empty() ? of_others : of_equal_nodes;
    if (!of_equal_nodes.empty())
      for (const task& t : of_others) result_.left_out.insert({t.machine, t.ranks});
    tasks_.insert(tasks_.end(), several.begin(), several.end());
    // The long ones first, so that no thread begins one when the others are done.
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const task& a, const task& b) { return a.ranks > b.ranks; });
  }

  // Calls the body for the tasks of many ranks, or for the others. Simulators keep memory for their
  // number of ranks, so a thread keeps one until it needs another.
  template <class Body>
  void in_parallel(bool many, const Body& body) {
    std::atomic<std::size_t> next{0};
    std::mutex failure_mutex;
    std::exception_ptr failure;
    double all = 0;
    for (const task& t : tasks_) all += 2 * t.ranks;
    const auto work = [&] {
      std::unique_ptr<simulation::simulator> simulator;
      const task* of = nullptr;
      try {
        for (std::size_t i; (i = next++) < tasks_.size();) {
          task& t = tasks_[i];
          if ((t.ranks >= many_ranks) != many) continue;
          if (of == nullptr || of->machine != t.machine || of->ranks != t.ranks)
            simulator = std::make_unique<simulation::simulator>(options_.machines[t.machine].model, t.ranks);
          of = &t;
          body(*simulator, t);
          const std::lock_guard lock(mutex_);
          done_ += t.ranks;
          report_(options_.machines[t.machine].name + ", " + std::to_string(t.ranks) +
                      " ranks: " + std::string(tutti::name_of(t.what)),
                  done_ / all);
        }
      } catch (...) {
        const std::lock_guard lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next = tasks_.size();
      }
    };
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 1; i < options_.threads; ++i) threads.emplace_back(work);
      work();
    }
    if (failure) std::rethrow_exception(failure);
  }

  // The microseconds of a choice: infinite if it takes longer than `max_us`, and nothing if they
  // are not known, because the simulation is impossible or takes too much effort.
  template <class Run>
  std::optional<double> time(const task& t, std::size_t size, const std::string& name, double max_us,
                             const Run& run) {
    const std::string key = options_.machines[t.machine].name + " " + std::to_string(t.ranks) + " " +
                            std::string(tutti::name_of(t.what)) + " " + std::to_string(size) + " " + name;
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = times_.find(key)) {
        ++result_.known;
        if (std::isnan(*known)) return {};
        return *known * 1e6 <= max_us ? *known * 1e6 : infinite;
      }
    }
    double seconds = std::numeric_limits<double>::quiet_NaN();
    try {
      simulation::simulation_options how;
      how.within = {max_us * 1e-6, max_messages(t.ranks), max_rates, options_.max_memory};
      seconds = simulate(run, how);
    } catch (const simulation::too_slow&) {
      seconds = infinite;
    } catch (const simulation::too_laborious&) {
      ++too_long_;
    } catch (const simulation::not_simulated&) {
    }
    const std::lock_guard lock(mutex_);
    ++result_.simulated;
    times_.add(key, seconds);
    return std::isnan(seconds) ? std::nullopt : std::optional<double>(seconds * 1e6);
  }

  // The memory that is available decides nothing: a simulation that lacks memory beside those of
  // other threads waits until they are done, and throws if it lacks memory then.
  template <class Run>
  double simulate(const Run& run, const simulation::simulation_options& how) {
    try {
      const std::shared_lock beside(simulating_);
      return run(how).seconds;
    } catch (const std::length_error&) {
    }
    const std::unique_lock alone(simulating_);
    return run(how).seconds;
  }

  // The same call on each machine with as many ranks and sockets per node, with the largest number
  // of ranks that is not many: trees choose for these together.
  std::vector<call_with_fewer_ranks> with_fewer_ranks(const task& t, std::size_t size, tree_half half) const {
    if (t.ranks < many_ranks) return {};
    const simulation::machine& model = options_.machines[t.machine].model;
    std::vector<const task*> fewer(options_.machines.size());
    for (const task& one : tasks_) {
      const simulation::machine& its = options_.machines[one.machine].model;
      const task*& largest = fewer[one.machine];
      if (one.what == t.what && one.ranks < many_ranks && its.ranks_per_node == model.ranks_per_node &&
          its.sockets == model.sockets && (largest == nullptr || one.ranks > largest->ranks))
        largest = &one;
    }
    std::vector<call_with_fewer_ranks> calls;
    const std::size_t block = std::max<std::size_t>(1, simulated_call_of(t.what, size).count);
    for (const task* one : fewer)
      for (std::size_t i = 0; one != nullptr && i < one->cells.size(); ++i)
        if (const timed_cell& c = one->cells[i]; c.size == size && half == tree_half::pure)
          calls.push_back({c.pure, pure_candidates(c.context, block, options_.parameters, {})});
        else if (c.size == size)
          calls.push_back({c.composed, composed_candidates(c.context, block, options_.parameters)});
    return calls;
  }

  void time_pure(simulation::simulator& on, task& t) {
    const speed v = speed_of(on.links());
    std::vector<std::size_t> sizes = options_.sizes;
    if (t.what == collective::barrier) sizes = {0};
    for (const std::size_t size : sizes) {
      const simulated_call c = simulated_call_of(t.what, size);
      const std::size_t block = std::max<std::size_t>(1, c.count);
      timed_cell one;
      one.context = simulation::context_of(c, on.links());
      one.size = size;
      const leaf current = decide(base_, one.context);
      std::vector<candidate> all = pure_candidates(one.context, block, options_.parameters, v);
      const std::size_t before = all.size();
      prune(all, options_.prune, current);
      keep_promising(all, current, with_fewer_ranks(t, size, tree_half::pure));
      pruned_ += before - all.size();
      put_promising_first(all, current);
      double best = infinite;
      for (const candidate& a : all) {
        const bool is_current = same(a.use, current), is_default = has_defaults(a.use.chosen);
        const double limit = best * (is_current || is_default ? 2 : 1) * worth_knowing;
        std::optional<double> us;
        if (t.ranks * claims_of(a.use.chosen, one.context.call, block).rounds >
            static_cast<double>(max_messages(t.ranks)))
          ++too_long_;
        else
          us = time(t, size, a.name, limit,
                    [&](const simulation::simulation_options& how) { return on.run(c, a.use.chosen, how); });
        if (!us) continue;
        best = std::min(best, *us);
        const double at_least = is_current ? std::min(*us, limit) : *us;
        if (std::isfinite(at_least)) one.pure.push_back({a.use, at_least, 0});
      }
      t.cells.push_back(std::move(one));
    }
  }

  void time_compositions(simulation::simulator& on, task& t, const selection& by) {
    leaf none;
    none.what = leaf::kind::pure;
    for (cell& one : t.cells) {
      if (one.pure.empty() || one.context.nodes < 2) continue;
      double best = fastest(one.pure).us;
      const simulated_call c = simulated_call_of(t.what, one.size);
      one.composed.push_back({none, best, 0});
      const std::size_t block = std::max<std::size_t>(1, c.count);
      std::vector<candidate> all = composed_candidates(one.context, block, options_.parameters);
      std::erase_if(
          all, [&](const candidate& a) { return only_repeats_the_call(*a.use.composed.which, one.context); });
      keep_promising(all, none, with_fewer_ranks(t, one.size, tree_half::composition));
      for (const candidate& a : all) {
        const auto us = time(
            t, one.size, "composed " + a.name, best * worth_knowing,
            [&](const simulation::simulation_options& how) { return on.run(c, a.use.composed, by, how); });
        if (!us || !std::isfinite(*us)) continue;
        one.composed.push_back({a.use, *us, 0});
        best = std::min(best, *us);
      }
    }
  }

  std::vector<cell> all_cells() const {
    std::vector<cell> all;
    for (const task& t : tasks_)
      for (const cell& c : t.cells)
        if (!c.pure.empty()) all.push_back(c);
    return all;
  }

  // The same calls where the engine offers a native collective.
  std::vector<cell> cells_with_native() const {
    std::vector<cell> all;
    for (const task& t : tasks_)
      for (timed_cell c : t.cells) {
        if (c.pure.empty() || !std::isfinite(c.native_us)) continue;
        c.context.native = true;
        c.pure.push_back({leaf::native(), c.native_us, 0});
        for (timing& one : c.composed)
          if (one.use.what == leaf::kind::pure) one.us = std::min(one.us, c.native_us);
        all.push_back(std::move(c));
      }
    return all;
  }

  // The time of the fastest native collective between nodes.
  void time_natives(simulation::simulator& on, task& t) {
    for (timed_cell& one : t.cells) {
      if (one.pure.empty() || on.links().nodes() < 2) continue;
      // One that takes many times as long is replaced in any case.
      double us = enough * fastest(one.pure).us;
      const simulated_call c = simulated_call_of(t.what, one.size);
      for (const peer_mpi mpi : options_.natives) {
        const auto what = peer_choice(mpi, one.context);
        if (!what) continue;
        const auto its =
            time(t, one.size, std::string(name_of(mpi)), us, [&](const simulation::simulation_options& how) {
              return what->composed.which != nullptr ? on.run(c, what->composed, peer_selection(mpi), how)
                                                     : on.run(c, what->pure, how);
            });
        if (!its) {  // perhaps it is the fastest
          one.native_us = infinite;
          break;
        }
        us = std::min(us, *its);
        one.native_us = us;
      }
    }
  }

  rules rules_without_native() const {
    rules r;
    r.floor = 0.0005;
    r.exact_times = true;
    r.tolerated_loss = 0.05;
    r.gain = options_.gain;
    r.states_all = true;
    r.open_ended = true;
    r.always.demand(condition::native, false);
    r.always.demand(condition::inter, false);
    return r;
  }
  // Declares the conditions in `trees`. Choices over one MPI hold only there.
  rules rules_over_native(document& trees) const {
    document one;
    for (const engine_condition& c : std::views::reverse(mpi_conditions))
      if (c.name == "oversubscribed" ||
          (options_.natives.size() == 1 && c.name == name_of(options_.natives.front())))
        one.conditions.push_back({std::string(c.name), std::string(c.meaning)});
    trees = overlay(trees, one);
    rules r = rules_without_native();
    r.gain = options_.gain_over_native;
    r.tolerated_loss = 0;
    r.open_ended = false;
    r.beat_native = true;
    r.always = {};
    r.always.demand(condition::native, true);
    r.always.demand(*find_condition("oversubscribed", trees.conditions), false);
    if (options_.natives.size() == 1)
      r.always.demand(*find_condition(name_of(options_.natives.front()), trees.conditions), true);
    return r;
  }

  const document& base_;
  const simulated_options& options_;
  const known_times& times_;
  const simulation_progress& report_;
  std::vector<task> tasks_;
  std::mutex mutex_;
  std::shared_mutex simulating_;
  double done_ = 0;
  std::atomic<std::size_t> pruned_{0}, too_long_{0};
  simulated_result result_;
};

}  // namespace

simulated_result run_simulated_campaign(const document& base, const simulated_options& options,
                                        const known_times& times, const simulation_progress& report) {
  return simulated_campaign(base, options, times, report).run();
}

}  // namespace tutti::tuning
