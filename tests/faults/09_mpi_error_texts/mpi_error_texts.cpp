// SPDX-License-Identifier: Apache-2.0
//
// Tests a native MPI collective with different counts: MPICH's error text is a chain of causes that
// is longer than MPI_MAX_ERROR_STRING. The program requests the text between two arrays of bytes
// that must not change.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engines/mpi/error_text.hpp"

namespace {

[[gnu::noinline]] bool has_error_text(int code) {
  volatile unsigned char before[64], after[64];
  for (int i = 0; i < 64; ++i) {
    before[i] = 0xa5;
    after[i] = 0xa5;
  }
  const std::string text = tutti::mpi::error_text(code);
  bool same = true;
  for (int i = 0; i < 64; ++i) same = same && before[i] == 0xa5 && after[i] == 0xa5;
  std::string low = text;
  std::transform(low.begin(), low.end(), low.begin(), [](unsigned char c) { return std::tolower(c); });
  if (same && (low.find("truncate") != low.npos || low.find("mpi_err_") != low.npos) &&
      text.find('\n') == text.npos)
    return true;
  std::fprintf(stderr, "FAILED: the text is \"%s\"%s\n", text.c_str(),
               same ? "" : ", and memory was overwritten");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto p = static_cast<std::size_t>(size);
  const int sends = rank == 1 ? 5 : 2;  // rank 1 sends more than the others expect
  std::vector<int> send_counts(p, sends), recv_counts(p, 2), displs(p), in(5 * p), out(5 * p);
  recv_counts[static_cast<std::size_t>(rank)] = sends;
  for (std::size_t i = 0; i < p; ++i) displs[i] = static_cast<int>(5 * i);
  MPI_Comm untouched;
  MPI_Comm_dup(MPI_COMM_WORLD, &untouched);
  const int code = MPI_Alltoallv(in.data(), send_counts.data(), displs.data(), MPI_INT, out.data(),
                                 recv_counts.data(), displs.data(), MPI_INT, MPI_COMM_WORLD);
  if (code != MPI_SUCCESS && has_error_text(code)) std::fprintf(stderr, "rank %d: error text\n", rank);
  std::fflush(stderr);
  // The launcher ends the other ranks with the first one, and they may still print. After such an
  // error MPI_Finalize may block forever.
  MPI_Barrier(untouched);
  std::_Exit(0);
}
