// SPDX-License-Identifier: Apache-2.0
//
// MPI_Alloc_mem and MPI_Free_mem: memory that the other processes of the node can map, so that
// collectives work in it. If there is none, no call looks for it, or the program passes an info
// object, MPI allocates the memory.
#include "engines/mpi/mpi_endpoint.hpp"
#include "frontends/preload/entry.hpp"
#include "frontends/preload/preload_process.hpp"
#include "transport/shm/shared_arena.hpp"

using namespace tutti::preload;

extern "C" {

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  // An info object may ask for an alignment, or a kind of memory.
  const process* const p = current();
  if (size > 0 && baseptr != nullptr && info == MPI_INFO_NULL && p != nullptr &&
      p->ep->memory().shares_buffers())
    if (void* const memory = tutti::shm::shared_arena::try_allocate(static_cast<std::size_t>(size), 64)) {
      *static_cast<void**>(baseptr) = memory;
      return MPI_SUCCESS;
    }
  return real<MPI_Alloc_mem>(size, info, baseptr);
}

int MPI_Free_mem(void* base) {
  return tutti::shm::shared_arena::deallocate(base) ? MPI_SUCCESS : real<MPI_Free_mem>(base);
}
}
