// SPDX-License-Identifier: Apache-2.0
//
// The outcome of `tutti simulate`, and its output formats: text, JSON, and a Gantt chart.
#pragma once

#include <string>

#include "simulation/simulator.hpp"

namespace tutti::tool {

/// A call that was simulated.
struct simulation_report {
  std::string name;       ///< "allreduce/ring:segment=65536"
  std::string machine;    ///< as the user named it
  std::string about;      ///< what its file says
  std::string chosen_by;  ///< empty if the user named the algorithm
  std::string like;       ///< the MPI whose choice this is; empty if there is none
  int ranks = 1, root = 0;
  collective what = collective::barrier;
  std::size_t bytes = 0;
  bool in_place = false;
  simulation::simulation_result result;
  std::string busiest_link;
  bool everything = false;  ///< text: the whole critical path, and the waiting of each rank
};

std::string as_text(const simulation_report& r);
std::string as_json(const simulation_report& r);
/// A row for each rank, with its rounds from left to right. The result must be recorded.
std::string as_gantt_chart(const simulation_report& r);

/// "12.3 us"
std::string time_text(double seconds);

}  // namespace tutti::tool
