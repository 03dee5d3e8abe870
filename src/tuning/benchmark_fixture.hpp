// SPDX-License-Identifier: Apache-2.0
//
// One rank of a job that is measured. Every choice that is timed has a communicator of its own on which it is
// forced, as the environment would do it: so the calls name nothing and take the way of any call that is
// repeated. It is also the `world` of measure.hpp; what the measuring needs itself goes by a communicator
// apart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "communicator/internal_calls.hpp"
#include "engines/engine.hpp"
#include "selection/tree.hpp"

namespace tutti::tuning {

/// Starts `ranks` ranks, or takes part in the MPI job that this process belongs to. Throws as make_ranks().
outcome start(const engine_entry& engine, int ranks, int argc, char** argv, const rank_program& program);

class benchmark_fixture {
 public:
  /// `trees` decide what is not forced; null: the fallback in code.
  benchmark_fixture(endpoint& ep, std::shared_ptr<const document> trees);

  int rank() const { return ep_.rank(); }
  int size() const { return ep_.size(); }
  void barrier();
  double max(double mine);
  /// From when the first rank began to when the last one had ended: all are on one machine, which has one
  /// clock.
  double span(double start, double end) { return max(end) + max(-start); }

  selection_context selection_context_of(const call& c) const;

  /// Collective. Names as of the parameters algorithm() and composition(); empty: the trees choose.
  detail::communicator_handle communicator(collective what, const std::string& algorithm,
                                           const std::string& composition);

 private:
  std::shared_ptr<detail::rank_state> state(selection by) const;

  endpoint& ep_;
  std::shared_ptr<const document> trees_;
  group everybody_;
  context* job_ = nullptr;  // of control_
  detail::communicator_handle control_;
  std::uint64_t next_id_ = 2;
};

}  // namespace tutti::tuning
