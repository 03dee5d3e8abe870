// SPDX-License-Identifier: Apache-2.0
//
// MPI_Alloc_mem and MPI_Free_mem: memory that the other processes of the node can map, so that
// collectives read it in place. If there is none, or tutti does not serve the program, MPI
// allocates the memory. Only then an info object has an effect.
#include "frontends/preload/entry.hpp"
#include "transport/shm/shared_arena.hpp"

using namespace tutti::preload;

extern "C" {

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* baseptr) {
  if (size > 0 && baseptr != nullptr && current_process.load(std::memory_order_acquire) != nullptr)
    if (void* const p = tutti::shm::shared_arena::try_allocate(static_cast<std::size_t>(size), 64)) {
      *static_cast<void**>(baseptr) = p;
      return MPI_SUCCESS;
    }
  return real<MPI_Alloc_mem>(size, info, baseptr);
}

int MPI_Free_mem(void* base) {
  return tutti::shm::shared_arena::deallocate(base) ? MPI_SUCCESS : real<MPI_Free_mem>(base);
}
}
