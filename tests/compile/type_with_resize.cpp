// expect: recv_buf: with a layout it must be a no_resize container
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(1), recv_buf<resize_to_fit>(v), recv_type(item));
#else
  comm.allgather(send_buf(1), recv_buf(v), recv_type(item));
#endif
}
