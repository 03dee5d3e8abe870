// expect: unnamed argument, not a parameter
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
#ifndef CORRECTED
  comm.ibcast(send_recv_buf(v), r);
#else
  comm.ibcast(send_recv_buf(v), request(r));
#endif
}
