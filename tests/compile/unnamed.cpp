// expect: unnamed argument, not a parameter: did you mean send_buf(x)?
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto all = comm.allgatherv(v, recv_counts_out());
#else
  auto all = comm.allgatherv(send_buf(v), recv_counts_out());
#endif
}
