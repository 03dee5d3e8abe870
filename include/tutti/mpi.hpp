// SPDX-License-Identifier: Apache-2.0
//
// tutti in a program that starts MPI itself. The only public header of tutti that includes <mpi.h>; link
// tutti::mpi, or tutti::mpi_openmpi or tutti::mpi_mpich to say which.
//
// ```cpp
// #include <cstdio>
// #include <tutti/mpi.hpp>
//
// int main(int argc, char** argv) {
//   MPI_Init(&argc, &argv);
//   {
//     tutti::communicator world = tutti::adopt(MPI_COMM_WORLD);
//     auto sum = world.allreduce(tutti::send_buf(1), tutti::op(std::plus<>{}));
//     if (world.is_root()) std::printf("%d ranks\n", sum[0]);
//   }
//   MPI_Finalize();
// }
// ```
#pragma once

// The MPIs' own C++ bindings are neither needed nor linked.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "tutti/tutti.hpp"

namespace tutti {

/// A communicator over the members of `comm`, rank for rank. Collective over `comm`; costs an MPI_Comm_dup of
/// it and a few small collectives, once.
///
/// The program keeps `comm`: tutti works on duplicates of it, so that no message of either can meet one of
/// the other, and the program may free `comm` while the result lives. Release every tutti object that comes
/// from it before MPI_Finalize. Calls are made from one thread at a time (MPI_THREAD_FUNNELED is enough).
///
/// A rank that throws out of a collective does not take the others out of their waits, since the program,
/// not tutti, decides how the job ends: call MPI_Abort where nothing better is known. MPICH reports a message
/// that is too long to the error handler of MPI_COMM_WORLD: it is an exception only where that is
/// MPI_ERRORS_RETURN.
///
/// Throws usage_error where MPI is not initialized or is finalized, and where `comm` is null or joins two
/// groups; engine_error where MPI refuses.
communicator adopt(MPI_Comm comm);

}  // namespace tutti
