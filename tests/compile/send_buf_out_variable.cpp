// expect: send_buf: takes one buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  (void)comm.isend(send_buf_out(v), destination(0));
#else
  (void)comm.isend(send_buf_out(std::move(v)), destination(0));
#endif
}
