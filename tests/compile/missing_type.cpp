// expect: send_recv_buf: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto got = comm.bcast(root(1));
#else
  auto got = comm.bcast<int>(root(1));
#endif
}
