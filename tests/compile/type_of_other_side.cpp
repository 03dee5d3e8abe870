// expect: recv_type: send_recv_buf stands for send_buf and recv_buf
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.alltoall(send_recv_buf(v), recv_type(item));
#else
  comm.alltoall(send_recv_buf(v), send_recv_type(item), send_recv_count(1));
#endif
}
