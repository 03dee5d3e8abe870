// expect: send_tag: takes one tag
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.sendrecv<int>(send_buf(v), destination(0), send_tag(), recv_tag(1));
#else
  comm.sendrecv<int>(send_buf(v), destination(0), send_tag(1), recv_tag(1));
#endif
}
