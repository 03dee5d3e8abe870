// expect: recv_counts: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto [got, counts, received] = comm.alltoallv(send_buf(v), send_counts_out(), recv_counts_out());
#else
  auto [got, counts] = comm.alltoallv(send_buf(v), send_counts_out(), recv_counts(v));
#endif
}
