// expect: send_tag: tag stands for
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto got = comm.sendrecv(send_buf(v), destination(0), tag(1), send_tag(2));
#else
  auto got = comm.sendrecv(send_buf(v), destination(0), recv_tag(1), send_tag(2));
#endif
}
