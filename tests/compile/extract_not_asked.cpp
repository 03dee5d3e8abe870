// expect: recv_counts: was not requested
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto r = comm.allgatherv(send_buf(v), recv_displs_out());
#else
  auto r = comm.allgatherv(send_buf(v), recv_counts_out());
#endif
  auto counts = r.extract_recv_counts();
}
