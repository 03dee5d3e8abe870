// expect: send_buf: takes one buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf_out(std::ref(v)));
#else
  auto all = comm.allgather(send_buf_out(std::move(v)));
#endif
}
