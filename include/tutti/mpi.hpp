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
//
//     double matrix[12] = {};  // 4 rows of 3
//     MPI_Datatype column;
//     MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &column);
//     world.bcast(tutti::send_recv_buf(matrix), tutti::send_recv_type(column), tutti::send_recv_count(1));
//     MPI_Type_free(&column);
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

/// Where the messages of an adopted communicator travel (messages.hpp).
enum class messages_on : std::uint8_t {
  duplicate,  ///< on a communicator of the library's own, where they meet no message of the program's
  original    ///< on the adopted communicator itself, as plain messages of MPI; see adopt()
};

/// A communicator over the members of `comm`, rank for rank. Collective over `comm`; costs an MPI_Comm_dup of
/// it and a few small collectives, once.
///
/// The program keeps `comm`: tutti works on duplicates of it, so that no message of either can meet one of
/// the other, and the program may free `comm` while the result lives (but see messages_on::original). Release
/// every tutti object that comes from it before MPI_Finalize. Calls are made from one thread at a time
/// (MPI_THREAD_FUNNELED is enough).
///
/// Where a thread has adopted several communicators, a call on one of them also progresses what is under way
/// on the others. With MPI_THREAD_MULTIPLE it does not, since other threads may use those at the same time:
/// wait for what is under way on a communicator by calls on that communicator, in an order in which no rank
/// waits for another's later call.
///
/// A rank that throws out of a collective does not take the others out of their waits, since the program,
/// not tutti, decides how the job ends: call MPI_Abort where nothing better is known. MPICH reports a message
/// that is too long to the error handler of MPI_COMM_WORLD: it is an exception only where that is
/// MPI_ERRORS_RETURN.
///
/// With messages_on::original what the result sends and receives are plain messages of MPI on `comm`, with
/// the given tags and as their bytes: MPI_Irecv there receives what send() sends, recv() what MPI_Send sends.
/// The library takes no message there but what its own receives get, probes leave it where it is, and a
/// receive of a known length is matched in the order in which it was begun, before or after the program's
/// own. An irecv() of unknown length is matched when a later call of this rank finds its message; a plain
/// receive that is begun in between may take that. `comm` must live as long as messages are sent and
/// received. Collectives, and the messages of communicators that are made from the result, travel on
/// duplicates all the same.
///
/// Throws usage_error where MPI is not initialized or is finalized, and where `comm` is null or joins two
/// groups; engine_error where MPI refuses.
communicator adopt(MPI_Comm comm, messages_on messages = messages_on::duplicate);

/// The layout of one item of an MPI datatype, committed or not, named or derived by any constructor of
/// MPI-3.1: the same bytes in the same order, and the same extent. So an item takes the place that MPI would
/// give it, also where its lower bound is not 0. The datatype may be freed then. Linear in the pieces, all of
/// which are listed: a datatype of many small blocks costs 16 bytes a block.
///
/// Local. Throws usage_error for MPI_DATATYPE_NULL, and for a negative extent; engine_error where MPI
/// refuses. The MPI must be initialized.
layout layout_of(MPI_Datatype type);

/// send_type(MPI_DOUBLE): the same as send_type(layout_of(MPI_DOUBLE)). The elements of a call remain those
/// of its buffers: only where the bytes lie is taken from the datatype.
inline auto send_type(MPI_Datatype type) { return send_type(layout_of(type)); }
inline auto recv_type(MPI_Datatype type) { return recv_type(layout_of(type)); }
inline auto send_recv_type(MPI_Datatype type) { return send_recv_type(layout_of(type)); }

}  // namespace tutti
