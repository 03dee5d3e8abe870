// expect: send_recv_buf: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_recv_buf(v), destination(0));
#else
  comm.sendrecv(send_recv_buf(v), destination(0));
#endif
}
