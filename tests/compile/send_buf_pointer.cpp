// expect: send_buf: a pointer, not a buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p, std::size_t n) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(p));
#else
  comm.allgather(send_buf(std::span(p, n)));
#endif
}
