// expect: send_buf: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sent = comm.isend(destination(0));
#else
  auto sent = comm.isend(send_buf(v), destination(0));
#endif
}
