// expect: unnamed argument, not a parameter
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.irecv(recv_buf(v), 0, tag(2));
#else
  auto coming = comm.irecv(recv_buf(v), source(0), tag(2));
#endif
}
