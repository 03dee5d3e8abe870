// SPDX-License-Identifier: Apache-2.0
//
// The report of how the ranks of a node exchange data, and why they do not in a better way.
#pragma once

#include <string>
#include <vector>

#include "engines/mpi/node_counters.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/rank_info.hpp"

namespace tutti::mpi {

/// The same on all ranks of a node. Empty if there is nothing to report. Ranks are those of the
/// job.
struct transport_reasons {
  std::string mpi_only;    ///< why MPI carries all data of the node
  std::string no_copies;   ///< why no rank copies from the memory of another
  std::string no_buffers;  ///< why no call looks for buffers that others can map
};

/// `all`: of the ranks of the job; `rank`: this one.
transport_reasons find_reasons(const std::vector<rank_info>& all, int rank, const node_counters& counters,
                               const node_memory& memory);

/// One fact each. `whole_job`: all ranks of the job are on the node, and share the memory.
std::vector<std::string> report_transports(const transport_reasons& why, const node_memory& memory,
                                           bool whole_job);

}  // namespace tutti::mpi
