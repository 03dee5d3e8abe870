// SPDX-License-Identifier: Apache-2.0
//
// tutti in a program that initializes MPI itself. This is the only public C++ header of tutti that
// includes <mpi.h>. Link tutti::mpi, or tutti::mpi_openmpi or tutti::mpi_mpich to select one.
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
//     world.bcast(tutti::send_recv_buf(matrix), tutti::send_recv_type(column),
//                 tutti::send_recv_count(1));
//     MPI_Type_free(&column);
//   }
//   MPI_Finalize();
// }
// ```
#pragma once

// These macros keep the C++ bindings of the MPI libraries out; they are neither needed nor linked.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include "tutti/detail/export.hpp"
#include "tutti/tutti.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// Which communicator carries the messages of an adopted communicator (messages.hpp).
enum class messages_on : std::uint8_t {
  duplicate,  ///< a communicator of the library; they match no message of the program
  original    ///< the adopted communicator itself, as plain MPI messages; see adopt()
};

/// Returns a communicator over the members of `comm`, with the same ranks. Collective over `comm`.
/// Costs an MPI_Comm_dup of it and a few small collectives, once.
///
/// The program keeps `comm`. tutti works on duplicates of it, so messages of one never match
/// messages of the other. The program may free `comm` while the result lives (except with
/// messages_on::original). Release every tutti object that comes from it before MPI_Finalize. The
/// program calls from one thread at a time (MPI_THREAD_FUNNELED is enough).
///
/// If a thread has adopted several communicators, a call on one of them also progresses unfinished
/// calls on the others. With MPI_THREAD_MULTIPLE it does not, since other threads may use those at
/// the same time. Then the program waits for unfinished calls by calls on their own communicator,
/// in an order in which no rank waits for another's later call.
///
/// A rank that throws out of a collective does not unblock the other ranks, since the program, not
/// tutti, decides how the job ends. Call MPI_Abort if nothing better is known. MPICH reports a
/// message that is too long to the error handler of MPI_COMM_WORLD. It becomes an exception only if
/// that handler is MPI_ERRORS_RETURN.
///
/// With messages_on::original the result sends and receives plain MPI messages on `comm`, with the
/// given tags and as bytes. MPI_Irecv on `comm` receives what send() sends, and recv() receives
/// what MPI_Send sends. The library takes only messages that match its own receives, and probes
/// leave messages in place. A receive of a known length is matched in the order in which it was
/// begun, relative to the program's own receives. An irecv() of unknown length is matched when a
/// later call of this rank finds its message. A plain receive that is begun in between may take
/// that message. `comm` must live as long as messages are sent and received. Collectives, and the
/// messages of communicators that are made from the result, still travel on duplicates.
///
/// Throws usage_error if MPI is not initialized or is finalized, or if `comm` is null or an
/// intercommunicator. Throws engine_error if an MPI call fails.
communicator adopt(MPI_Comm comm, messages_on messages = messages_on::duplicate);

/// Returns the layout of one item of an MPI datatype: the same bytes in the same order, and the
/// same extent. The datatype may be committed or not, and named or derived by any constructor of
/// MPI-3.1. An item thus occupies the place that MPI would give it, even if its lower bound is not
/// 0. The program may free the datatype afterwards. Takes time linear in the pieces, and lists all
/// of them: a datatype of many small blocks costs 16 bytes per block.
///
/// Local. Throws usage_error for MPI_DATATYPE_NULL and for a negative extent, and engine_error if
/// an MPI call fails. MPI must be initialized.
layout layout_of(MPI_Datatype type);

/// send_type(MPI_DOUBLE) is the same as send_type(layout_of(MPI_DOUBLE)). The datatype only
/// determines where the bytes lie; the element type of a call remains that of its buffers.
inline auto send_type(MPI_Datatype type) { return send_type(layout_of(type)); }
inline auto recv_type(MPI_Datatype type) { return recv_type(layout_of(type)); }
inline auto send_recv_type(MPI_Datatype type) { return send_recv_type(layout_of(type)); }

}  // namespace tutti
TUTTI_API_END
