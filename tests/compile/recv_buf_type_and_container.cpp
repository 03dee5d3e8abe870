// expect: recv_buf: takes one container
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v), recv_buf<std::vector<int>>(v));
#else
  comm.allgather(send_buf(v), recv_buf<resize_to_fit>(std::move(v)));
#endif
}
