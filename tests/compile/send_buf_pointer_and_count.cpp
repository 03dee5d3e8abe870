// expect: send_buf: takes one buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p, std::size_t n) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(p, n));
#else
  comm.allgather(send_buf(p[0]));
#endif
}
