// expect: recv_buf: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v), recv_type(item));
#else
  comm.allgather(send_buf(v), recv_type(item), recv_buf(v));
#endif
}
