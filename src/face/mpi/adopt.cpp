// SPDX-License-Identifier: Apache-2.0
//
// adopt(): a communicator of tutti over a communicator of MPI's, in a program that links MPI itself.
#ifdef TUTTI_MPI_STATIC

#include "engines/mpi/adopt.hpp"

#include "core/environment.hpp"
#include "face/core.hpp"
#include "tutti/mpi.hpp"

namespace tutti {

communicator adopt(MPI_Comm comm) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->check = switch_setting("TUTTI_CHECK", false);
  shared->forced = detail::read_forced_algorithms();
  shared->owned = make_mpi_endpoint(comm, shared->check);
  shared->door = shared->owned.get();
  endpoint& door = *shared->door;
  return communicator(std::make_shared<detail::core>(
      shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr)));
}

}  // namespace tutti

#endif
