// SPDX-License-Identifier: Apache-2.0
//
// adopt(): a communicator of tutti over a communicator of MPI's, in a program that links MPI itself.
#include "engines/mpi/adopt.hpp"

#include <cstdio>

#include "core/environment.hpp"
#include "core/report.hpp"
#include "engines/engine.hpp"
#include "face/core.hpp"
#include "tutti/mpi.hpp"

namespace tutti {

communicator adopt(MPI_Comm comm, messages_on messages) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->set = detail::read_settings();
  if (!mpi_has_concurrent_callers()) shared->elsewhere.join(*shared);
  shared->owned = make_mpi_endpoint(comm, shared->set.check, *shared, messages == messages_on::original);
  shared->use(*shared->owned);
  shared->by = std::make_shared<const selection>(selection{detail::load_trees("mpi"), detail::read_forced()});
  endpoint& door = *shared->door;
  shared->self.rank = door.rank();
  shared->any_thread = door.any_thread();
  if (!shared->any_thread) shared->carrier = fabric::carry_process();
  if (door.rank() == 0)
    for (const std::string& name : unknown_settings(all_variables()))
      std::fprintf(stderr, "tutti: %s is set, but there is no such variable (tutti info lists them)\n",
                   echoed(name).c_str());
  shared->engine_conditions = detail::engine_conditions_of(*shared->by->trees, door, door.rank() == 0);
  shared->begin_trace();
  communicator world(detail::core_handle(
      new detail::core(shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr))));
  world.native().compare_trees();
  return world;
}

}  // namespace tutti
