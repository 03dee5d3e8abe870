// expect: send_recv_count: missing: a layout is given without its count
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.bcast(send_recv_buf(v), send_recv_type(item));
#else
  comm.bcast(send_recv_buf(v), send_recv_type(item), send_recv_count(1));
#endif
}
