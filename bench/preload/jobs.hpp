// SPDX-License-Identifier: Apache-2.0
//
// The jobs of bench/preload: the program native_<mpi>, which knows nothing of tutti, run without the library
// that serves its collectives, with it, and with it and a tuned tree.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "progress.hpp"
#include "protocol.hpp"

namespace bench {

/// `again`: without it once more, which says what differences mean.
enum class variant { without, with, tuned, again };

struct preload_settings {
  options measure;
  int ranks = 2;
  int repeat = 5;
  double timeout_s = 120;
  std::string tree;  // empty: there is no variant tuned
};

/// An MPI that can be measured here.
struct preload_mpi {
  std::string name, title, launcher, library;  // "openmpi", "Open MPI", "mpirun.openmpi", a path
};
/// What cannot is told with what is missing.
std::vector<preload_mpi> find_mpis(progress& told);

using preload_case = std::pair<std::string, std::size_t>;  // collective and bytes

struct preload_figures {
  std::map<variant, double> us;        // the best
  std::map<variant, std::string> ran;  // "native", "ring", or several with a comma between
};
using preload_results = std::map<std::string, std::map<preload_case, preload_figures>>;  // by MPI

/// The variants take turns, and no one always comes first, so that what else happens on the machine meets all
/// of them. What fails is told, and has no figure.
preload_results run_jobs(const preload_settings& s, const std::vector<preload_mpi>& mpis, progress& told);

}  // namespace bench
