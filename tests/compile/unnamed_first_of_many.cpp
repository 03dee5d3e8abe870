// expect: unnamed argument, not a parameter: did you mean send_buf(x)?
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto [a, b, c] = comm.alltoallv(send_buf(v), v, recv_counts_out(), recv_displs_out());
#else
  auto [a, b, c] = comm.alltoallv(send_buf(v), send_counts(v), recv_counts_out(), recv_displs_out());
#endif
}
