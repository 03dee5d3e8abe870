// SPDX-License-Identifier: Apache-2.0
//
// Turns a rank that an engine runs into a program with a communicator.
#pragma once

#include <array>
#include <exception>
#include <memory>
#include <mutex>

#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"
#include "transport/endpoint.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/run.hpp"

namespace tutti::detail {

/// The settings with which all ranks of this process start. Read once, before they start.
class rank_startup {
 public:
  /// Throws usage_error if variables are wrong. Under an MPI launcher every rank throws it when MPI
  /// is up, because the other ranks wait for this process there.
  TUTTI_API rank_startup();

  /// Makes the rank's communicator over the job and calls the program with it. Ranks may call it
  /// concurrently. `of_process`: the calling thread continues while the program pauses, and may run
  /// other such ranks, as over MPI.
  TUTTI_API void run_rank(endpoint& ep, detail::program_view program, bool of_process = false);

 private:
  std::shared_ptr<const selection> trees_of(const endpoint& ep);

  detail::settings set_;
  std::array<forced_choice, collective_names.size()> forced_choices_;
  std::exception_ptr settings_error_;
  // For the trees; the first rank of this process loads them, because it knows the engine.
  std::mutex selection_mutex_;
  std::shared_ptr<const selection> selection_;
};

}  // namespace tutti::detail
