// expect: recv_count: given twice
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  int n = 0;
#ifndef CORRECTED
  comm.recv(recv_buf(v), recv_count(3), recv_count_out(n));
#else
  comm.recv(recv_buf(v), recv_count_out(n));
#endif
}
