// expect: send_buf: send_recv_buf stands for
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_recv_buf(v), send_buf(v));
#else
  comm.allgather(send_recv_buf(v));
#endif
}
