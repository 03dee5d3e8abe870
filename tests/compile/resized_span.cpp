// expect: recv_buf: this container cannot be resized
// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v), recv_buf<resize_to_fit>(std::span<int>(v)));
#else
  comm.allgather(send_buf(v), recv_buf<no_resize>(std::span<int>(v)));
#endif
}
