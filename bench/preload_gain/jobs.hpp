// SPDX-License-Identifier: Apache-2.0
//
// Runs the jobs of bench/preload_gain. They run the program native_<mpi>, which does not know
// tutti, without the preload library, with it, and with it and a tuned tree.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "progress.hpp"
#include "protocol.hpp"

namespace bench {

/// `again`: without the library a second time, to measure the noise.
enum class variant { without, with, tuned, again };

struct preload_settings {
  options measure;
  int ranks = 2;
  int repeat = 5;
  double timeout_s = 120;
  std::string tree;  // empty: there is no tuned variant
};

/// An MPI that can be measured here.
struct preload_mpi {
  std::string name, title, launcher, library;  // "openmpi", "Open MPI", "mpirun.openmpi", a path
};
/// Reports what is missing for the MPIs that cannot be measured.
std::vector<preload_mpi> find_mpis(progress& log);

using preload_case = std::pair<std::string, std::size_t>;  // collective, bytes

struct preload_figures {
  std::map<variant, double> us;        // the best time
  std::map<variant, std::string> ran;  // "native", "ring", or several, separated by commas
};
using preload_results = std::map<std::string, std::map<preload_case, preload_figures>>;  // by MPI

/// The variants take turns, and none always comes first, so that a disturbance affects all of them.
/// A failed job is reported and has no figure.
preload_results run_jobs(const preload_settings& s, const std::vector<preload_mpi>& mpis, progress& log);

}  // namespace bench
