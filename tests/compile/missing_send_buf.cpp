// expect: send_buf: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto all = comm.allgather(recv_buf(v));
#else
  auto all = comm.allgather(send_buf(v));
#endif
}
