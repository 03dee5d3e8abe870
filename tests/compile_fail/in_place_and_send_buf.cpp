// expect: send_buf: send_recv_buf stands for
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.allgather(send_recv_buf(v), send_buf(v));
}
