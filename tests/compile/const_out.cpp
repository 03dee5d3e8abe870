// expect: recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const std::vector<int> w(9);
#else
  std::vector<int> w(9);
#endif
  comm.allgather(send_buf(v), recv_buf(w));
}
