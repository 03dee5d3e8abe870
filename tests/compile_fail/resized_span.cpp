// expect: recv_buf: this container cannot be resized
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <span>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.allgather(send_buf(v), recv_buf<resize_to_fit>(std::span<int>(v)));
}
