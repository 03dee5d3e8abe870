// expect: recv_buf: send_recv_buf stands for
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<int> w;
#ifndef CORRECTED
  comm.sendrecv(send_recv_buf(v), recv_buf(w), destination(0));
#else
  comm.sendrecv(send_buf(v), recv_buf(w), destination(0));
#endif
}
