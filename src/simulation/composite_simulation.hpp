// SPDX-License-Identifier: Apache-2.0
//
// Simulates composite plans. Each rank executes the steps of its plan. An inner call becomes a
// schedule of its own as soon as the rank starts it; its algorithm is the one that selection
// chooses, the same as in a run.
#pragma once

#include <map>
#include <vector>

#include "schedule/composite/planner.hpp"
#include "simulation/event_run.hpp"

namespace tutti::simulation {

class composite_simulation : public event_run::observer {
 public:
  composite_simulation(event_run& events, const simulated_call& c, const hierarchy& topology,
                       const composed_choice& composition, const selection& inner)
      : events_(events), call_(c), topology_(topology), composition_(composition), inner_(inner) {}

  /// Writes the plans of all ranks, and runs them. Throws not_simulated, and too_slow as
  /// event_run::execute() does.
  void run();

  double end_of(int rank) const { return ranks_[static_cast<std::size_t>(rank)].end; }
  /// The round that determined the end of the rank; -1 if rounds are not recorded.
  std::int32_t last_round(int rank) const { return ranks_[static_cast<std::size_t>(rank)].previous; }
  /// Of a rank: its plan, and the schedules of inner calls that are in progress at the same time.
  call_cost cost_of(int rank);

  void complete(std::uint32_t run, double now) override;
  void resume(int rank, double now) override;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct active {
    std::uint32_t call, run;
    bool complete = false;
    double end = 0;
  };
  struct rank_state {
    composite_plan plan;
    std::vector<active> calls;
    std::size_t pc = 0;
    std::uint32_t waits_for = none;  // a run
    double end = 0;
    std::int32_t previous = -1;
  };

  composite_plan plan_of(int rank) const;
  /// A group of inner calls: what selection reads of it.
  const selection_context& context_of_group(const std::vector<int>& ranks);
  choice choose(const subcall& sub, const std::vector<int>& ranks);
  rank_schedule schedule_of(int rank, const subcall& sub, const std::vector<int>& members);
  void start(int rank, std::uint32_t which, double now);
  bool wait(int rank, std::uint32_t which, double& now);
  double work(int rank, const local_work& w, double now);

  event_run& events_;
  const simulated_call& call_;
  const hierarchy& topology_;
  const composed_choice& composition_;
  const selection& inner_;
  std::vector<rank_state> ranks_;
  std::map<std::vector<int>, selection_context> groups_;
};

}  // namespace tutti::simulation
