// SPDX-License-Identifier: Apache-2.0
//
// Implements adopt(): a communicator of tutti over an MPI communicator, in a program that links MPI
// itself.
#include <cstdio>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/engine_table.hpp"
#include "engines/mpi/adopted_endpoint.hpp"
#include "tutti/mpi.hpp"

namespace tutti {

using namespace detail;

communicator adopt(MPI_Comm comm, messages_on messages) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->config = detail::read_settings();
  if (!mpi_has_concurrent_callers()) shared->other_jobs.join(*shared);
  shared->owned = make_mpi_endpoint(comm, shared->config.check, *shared, messages == messages_on::original);
  shared->use(*shared->owned);
  shared->by = std::make_shared<const selection>(selection{detail::load_trees("mpi"), detail::read_forced()});
  endpoint& ep = *shared->ep;
  shared->self.rank = ep.rank();
  shared->any_thread = ep.any_thread();
  shared->begin(shared->any_thread ? nullptr : shm::adopt_process_rank());
  if (ep.rank() == 0)
    for (const std::string& name : unknown_settings(all_variables()))
      std::fprintf(stderr, "tutti: %s is set, but there is no such variable (tutti info lists them)\n",
                   echoed(name).c_str());
  shared->engine_conditions = detail::engine_conditions_of(*shared->by->trees, ep, ep.rank() == 0);
  shared->begin_trace();
  communicator world(detail::make_world(shared));
  detail::compare_settings(detail::impl_of(world));
  return world;
}

}  // namespace tutti
