// SPDX-License-Identifier: Apache-2.0
//
// From a rank that an engine runs to a program with a communicator.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"
#include "transport/endpoint.hpp"
#include "tutti/run.hpp"

namespace tutti {

/// What all ranks of this process begin with: read once, before they start.
class rank_startup {
 public:
  /// Throws usage_error for what is wrong with the variables. Under an MPI launcher every rank throws that
  /// instead, when MPI is up: others wait for this process there.
  rank_startup();

  /// Makes the rank's communicator over the job and calls the program with it. By many ranks at once.
  /// `of_process`: the calling thread goes on while the program pauses, and may carry other such
  /// ranks, as it does over MPI.
  void run_rank(endpoint& ep, detail::program_view program, bool of_process = false);

 private:
  std::shared_ptr<const selection> trees_of(const endpoint& ep);

  detail::settings set_;
  std::array<forced_choice, collective_names.size()> forced_;
  std::exception_ptr wrong_;
  std::mutex loading_;  // of the trees, by the first rank of this process: it knows the engine
  std::shared_ptr<const selection> by_;
};

}  // namespace tutti
