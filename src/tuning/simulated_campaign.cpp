// SPDX-License-Identifier: Apache-2.0
#include "tuning/simulated_campaign.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "selection/resolve.hpp"
#include "simulation/simulator.hpp"
#include "tuning/candidates.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

using simulation::simulated_call;

// Choices that send more messages are not simulated. All pairs of a thousand ranks are below it.
std::uint64_t max_messages(int ranks) noexcept {
  const auto p = static_cast<std::uint64_t>(ranks);
  return std::min<std::uint64_t>(2'000'000, 100'000 + p * p);
}

// About ten seconds.
constexpr std::uint64_t max_rates = 100'000'000;

constexpr double infinite = std::numeric_limits<double>::infinity();

// A choice that takes so many times as long as the best known is not simulated to its end.
constexpr double worth_knowing = 1.5;
constexpr double enough = 4;
// Parameters of an algorithm that is slow with its defaults are simulated if their claim is better
// by this factor.
constexpr double promising = 0.6;

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

// The time of a message, as the claims of algorithms count them.
speed speed_of(const simulation::network& links) {
  simulation::route r;
  links.find(0, links.ranks() - 1, r);
  double rate = r.max_rate;
  for (std::uint32_t i = 0; i < r.hops; ++i) rate = std::min(rate, links.bandwidths()[r.links[i]]);
  speed v;
  v.alpha = (r.latency + r.with->send_overhead + r.with->receive_overhead) * 1e6;
  v.beta = 1e6 / rate;
  return v;
}

const timing* fastest(const std::vector<timing>& all) {
  const auto at =
      std::min_element(all.begin(), all.end(), [](const timing& a, const timing& b) { return a.us < b.us; });
  return at == all.end() ? nullptr : &*at;
}

class simulated_campaign {
 public:
  simulated_campaign(const document& base, const simulated_options& options, const known_times& times,
                     const simulation_progress& report)
      : base_(base), options_(options), times_(times), report_(report) {}

  simulated_result run() {
    make_tasks();
    // Compositions have no pure algorithms to compare with before these are known, and call them.
    in_parallel([this](simulation::simulator& on, task& t) { time_pure(on, t); });
    const auto inner = std::make_shared<const document>(
        overlay(base_, grow(base_, all_cells(), rules_without_native()).made));
    const selection by{inner, {}};
    in_parallel([&](simulation::simulator& on, task& t) {
      time_compositions(on, t, by);
      time_natives(on, t);
    });

    result_.cells = all_cells();
    result_.trees = grow(base_, result_.cells, rules_without_native());
    if (!options_.natives.empty()) {
      document declared = base_;
      const rules r = rules_over_native(declared);
      const grown over_native = grow(declared, cells_with_native(), r);
      result_.trees.made = overlay(result_.trees.made, over_native.made);
      result_.trees.changes.insert(result_.trees.changes.end(), over_native.changes.begin(),
                                   over_native.changes.end());
    }
    result_.simulated = simulated_;
    result_.known = known_;
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
    tasks_.insert(tasks_.end(), several.begin(), several.end());
    // The long ones first, so that no thread begins one when the others are done.
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const task& a, const task& b) { return a.ranks > b.ranks; });
  }

  // Simulators keep memory for their number of ranks, so a thread keeps one until it needs another.
  template <class Body>
  void in_parallel(const Body& body) {
    std::atomic<std::size_t> next{0};
    std::mutex failure_mutex;
    std::exception_ptr failure;
    double all = 0, done = 0;
    for (const task& t : tasks_) all += t.ranks;
    const double begin = passes_++ * 0.5;
    const auto work = [&] {
      std::unique_ptr<simulation::simulator> simulator;
      const task* of = nullptr;
      try {
        for (std::size_t i; (i = next++) < tasks_.size();) {
          task& t = tasks_[i];
          if (of == nullptr || of->machine != t.machine || of->ranks != t.ranks)
            simulator = std::make_unique<simulation::simulator>(options_.machines[t.machine].model, t.ranks);
          of = &t;
          body(*simulator, t);
          const std::lock_guard lock(mutex_);
          done += t.ranks;
          report_(options_.machines[t.machine].name + ", " + std::to_string(t.ranks) +
                      " ranks: " + std::string(tutti::name_of(t.what)),
                  begin + 0.5 * done / all);
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
        ++known_;
        if (std::isnan(*known)) return {};
        return *known * 1e6 <= max_us ? *known * 1e6 : infinite;
      }
    }
    double seconds = std::numeric_limits<double>::quiet_NaN();
    try {
      simulation::simulation_options how;
      how.within = {max_us * 1e-6, max_messages(t.ranks), max_rates};
      seconds = run(how).seconds;
    } catch (const simulation::too_slow&) {
      seconds = infinite;
    } catch (const simulation::too_laborious&) {
      ++too_long_;
    } catch (const simulation::not_simulated&) {
    } catch (const std::length_error&) {  // too much memory, but perhaps not the next time
      ++too_long_;
      return {};
    }
    const std::lock_guard lock(mutex_);
    ++simulated_;
    times_.add(key, seconds);
    return std::isnan(seconds) ? std::nullopt : std::optional<double>(seconds * 1e6);
  }

  static bool has_defaults(const choice& c) { return c.parameter_values == c.pure->default_values(); }

  // The current choice comes last: once the best is known, it is enough to know that it is slow.
  // Default parameters come before others, which are left out if they promise little more.
  static void order(std::vector<candidate>& all, const leaf& current) {
    const auto group = [&](const candidate& a) {
      return same(a.use, current) ? 2 : has_defaults(a.use.chosen) ? 0 : 1;
    };
    std::stable_sort(all.begin(), all.end(), [&](const candidate& a, const candidate& b) {
      const int x = group(a), y = group(b);
      return x != y ? x < y : a.predicted < b.predicted;
    });
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
      pruned_ += before - all.size();
      order(all, current);
      double best = infinite;
      std::map<const pure_algorithm*, double> slow;  // predicted times of slow defaults
      for (const candidate& a : all) {
        const bool is_current = same(a.use, current), is_default = has_defaults(a.use.chosen);
        if (const auto d = slow.find(a.use.chosen.pure);
            d != slow.end() && !is_current && a.predicted > promising * d->second)
          continue;
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
        if (is_default && !std::isfinite(*us)) slow.emplace(a.use.chosen.pure, a.predicted);
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
      const timing* const best_pure = fastest(one.pure);
      if (best_pure == nullptr || one.context.nodes < 2) continue;
      const simulated_call c = simulated_call_of(t.what, one.size);
      one.composed.push_back({none, best_pure->us, 0});
      double best = best_pure->us;
      for (const candidate& a :
           composed_candidates(one.context, std::max<std::size_t>(1, c.count), options_.parameters)) {
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

  // The time of the fastest native collective.
  void time_natives(simulation::simulator& on, task& t) {
    for (timed_cell& one : t.cells) {
      const timing* const best = fastest(one.pure);
      if (best == nullptr || one.context.nodes < 2) continue;
      // One that takes many times as long is replaced in any case.
      double us = enough * best->us;
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
    r.gain = options_.gain;
    r.always.demand(condition::native, false);
    r.always.demand(condition::inter, false);
    return r;
  }
  // Declares the condition in `trees`.
  rules rules_over_native(document& trees) const {
    document one;
    one.conditions.push_back(
        {"oversubscribed", "a machine of the job has more ranks than cores that they may use"});
    trees = overlay(trees, one);
    rules r = rules_without_native();
    r.gain = options_.gain_over_native;
    r.beat_native = true;
    r.always = {};
    r.always.demand(condition::native, true);
    r.always.demand(*find_condition("oversubscribed", trees.conditions), false);
    return r;
  }

  const document& base_;
  const simulated_options& options_;
  const known_times& times_;
  const simulation_progress& report_;
  std::vector<task> tasks_;
  std::mutex mutex_;
  int passes_ = 0;
  std::atomic<std::size_t> simulated_{0}, known_{0}, pruned_{0}, too_long_{0};
  simulated_result result_;
};

}  // namespace

simulated_result run_simulated_campaign(const document& base, const simulated_options& options,
                                        const known_times& times, const simulation_progress& report) {
  return simulated_campaign(base, options, times, report).run();
}

}  // namespace tutti::tuning
