// SPDX-License-Identifier: Apache-2.0
//
// Counts the sends of MPI. A message that is not counted has used the memory of the node. A program
// includes this file in one source file only, because it defines functions of MPI.
#pragma once

#include <string>

#include <mpi.h>

#include "mpi_program.hpp"

namespace tests {

inline int sends_of_mpi = 0;

inline void require_sends_of_mpi(int expected, const std::string& what) {
  require(sends_of_mpi == expected, what + ": MPI has sent " + std::to_string(sends_of_mpi) +
                                        " messages instead of " + std::to_string(expected));
}

}  // namespace tests

#define COUNTED_SEND(NAME)                                                                       \
  extern "C" int MPI_##NAME(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c) { \
    ++tests::sends_of_mpi;                                                                       \
    return PMPI_##NAME(a, n, t, to, tag, c);                                                     \
  }
#define COUNTED_ISEND(NAME)                                                                    \
  extern "C" int MPI_##NAME(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, \
                            MPI_Request* r) {                                                  \
    ++tests::sends_of_mpi;                                                                     \
    return PMPI_##NAME(a, n, t, to, tag, c, r);                                                \
  }
COUNTED_SEND(Send)
COUNTED_SEND(Ssend)
COUNTED_ISEND(Isend)
COUNTED_ISEND(Issend)
