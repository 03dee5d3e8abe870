// expect: recv_counts: a pointer, not a buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p, std::size_t n) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgatherv(send_buf(v), recv_counts(p));
#else
  comm.allgatherv(send_buf(v), recv_counts(std::span(p, n)));
#endif
}
