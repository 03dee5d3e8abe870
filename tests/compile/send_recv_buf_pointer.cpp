// expect: send_recv_buf: a pointer, not a buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allreduce(op(std::plus<>{}), send_recv_buf(p));
#else
  comm.allreduce(op(std::plus<>{}), send_recv_buf(*p));
#endif
}
