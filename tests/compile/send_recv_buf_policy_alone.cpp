// expect: send_recv_buf: takes one container
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.bcast(send_recv_buf<resize_to_fit>());
#else
  comm.bcast(send_recv_buf<resize_to_fit>(v));
#endif
}
