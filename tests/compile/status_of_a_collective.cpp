// expect: status: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  status s;
#ifndef CORRECTED
  comm.bcast(send_recv_buf(v), status(s));
#else
  comm.recv(recv_buf(v), status(s));
#endif
}
