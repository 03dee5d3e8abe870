// expect: send_counts: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto got = comm.alltoallv(send_buf(v), recv_counts(v));
#else
  auto got = comm.alltoallv(send_buf(v), send_counts(v));
#endif
}
