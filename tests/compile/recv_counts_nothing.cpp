// expect: recv_counts: takes one container of int
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgatherv(send_buf(v), recv_counts());
#else
  comm.allgatherv(send_buf(v), recv_counts(v));
#endif
}
