// expect: recv_buf: this container cannot be resized, use no_resize
// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, std::vector<int>& out) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v), recv_buf<resize_to_fit>(std::views::take(out, 2)));
#else
  comm.allgather(send_buf(v), recv_buf(std::views::take(out, 2)));
#endif
}
