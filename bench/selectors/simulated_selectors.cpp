// SPDX-License-Identifier: Apache-2.0
#include "selectors/simulated_selectors.hpp"

#include <stdexcept>

#include "selectors/simulated_choices.hpp"
#include "tuning/peer_choice.hpp"

namespace bench {
namespace {

using namespace tutti::simulation;
namespace tuning = tutti::tuning;

constexpr const char* collectives[] = {
    "barrier",   "bcast",   "reduce", "allreduce", "scatter", "gather", "reduce_scatter_block",
    "allgather", "alltoall"};
constexpr std::size_t sizes[] = {8, 1024, 32768, 1048576, 16777216};

}  // namespace

std::vector<selector_cell> cells_without_times(const std::vector<std::string>& machines,
                                               const std::vector<int>& ranks) {
  std::vector<selector_cell> all;
  for (const int p : ranks)
    for (const std::string& machine : machines)
      for (const char* what : collectives)
        for (const std::size_t bytes : sizes) {
          const bool barrier = what == collectives[0];
          if (barrier && bytes != sizes[0]) continue;
          selector_cell c;
          c.machine = machine;
          c.collective = what;
          c.ranks = p;
          c.bytes = barrier ? 0 : bytes;
          all.push_back(c);
        }
  return all;
}

void add_simulated_times(simulator& simulator, selector_cell& cell) {
  const simulated_call call = call_of(cell);
  const auto context = context_of(call, simulator.links());
  cell.fastest.clear();
  cell.missing = 0;
  for (const auto& [mpi, name] :
       {std::pair(tuning::peer_mpi::open_mpi, "ompi"), std::pair(tuning::peer_mpi::mpich, "mpich")}) {
    const auto what = tuning::peer_choice(mpi, context);
    try {
      if (!what) throw not_simulated("the choice is not known");
      const double seconds =
          what->composed.which != nullptr
              ? simulator.run(call, what->composed, tuning::peer_selection(mpi), affordable()).seconds
              : simulator.run(call, what->pure, affordable()).seconds;
      if (cell.fastest.empty() || seconds < cell.seconds) {
        cell.fastest = name;
        cell.seconds = seconds;
      }
    } catch (const not_simulated&) {
      ++cell.missing;
    } catch (const too_laborious&) {
      ++cell.missing;
    } catch (const std::length_error&) {  // too much memory
      ++cell.missing;
    }
  }
}

}  // namespace bench
