// expect: recv_type: send_recv_buf stands for send_buf and recv_buf
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  comm.alltoall(send_recv_buf(v), recv_type(item));
}
