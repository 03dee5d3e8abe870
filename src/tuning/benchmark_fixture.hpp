// SPDX-License-Identifier: Apache-2.0
//
// One rank of a measured job. Each measured choice has its own communicator, on which it is forced
// in the same way as by the environment. So the calls name no algorithm and take the path of any
// cached call. The class also is the `world` of measure.hpp; its own barriers and maxima use a
// separate communicator.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "communicator/internal_calls.hpp"
#include "communicator/make_communicators.hpp"
#include "engines/engine_table.hpp"
#include "selection/tree.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

/// Starts `ranks` ranks, or joins the MPI job that this process belongs to. Throws the same errors
/// as make_ranks().
outcome start(const engine_entry& engine, int ranks, int argc, char** argv, const rank_program& program);

class benchmark_fixture {
 public:
  /// `trees` decide all choices that are not forced; null means the fallback in code.
  benchmark_fixture(endpoint& ep, std::shared_ptr<const document> trees);

  int rank() const { return ep_.rank(); }
  int size() const { return ep_.size(); }
  void barrier();
  double max(double mine);
  /// The time from the first rank's start to the last rank's end. All ranks must be on one machine,
  /// so that they share a clock.
  double span(double start, double end) { return max(end) + max(-start); }

  selection_context selection_context_of(const call& c) const;

  /// Collective. The names are those of the parameters algorithm() and composition(); with empty
  /// names the trees decide.
  detail::communicator_handle communicator(collective what, const std::string& algorithm,
                                           const std::string& composition);
  /// Collective. A communicator of all ranks without calls: the caller runs schedules on it.
  std::unique_ptr<context> open() { return ep_.open(all_ranks_, next_id_++, job_); }

 private:
  std::shared_ptr<detail::rank_state> state(selection by) const;

  endpoint& ep_;
  std::shared_ptr<const document> trees_;
  group all_ranks_;
  context* job_ = nullptr;  // owned by control_
  detail::communicator_handle control_;
  std::uint64_t next_id_ = 2;
};

}  // namespace tutti::tuning
