// expect: recv_counts: given twice
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto r = comm.allgatherv(send_buf(v), recv_counts(v), recv_counts_out());
#else
  auto r = comm.allgatherv(send_buf(v), recv_counts_out());
#endif
}
