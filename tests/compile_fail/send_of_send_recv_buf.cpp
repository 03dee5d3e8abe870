// expect: send_recv_buf: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.send(send_recv_buf(v), destination(0));
}
