// expect: send_recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const int x = 1;
#else
  int x = 1;
#endif
  comm.bcast(send_recv_buf(x));
}
