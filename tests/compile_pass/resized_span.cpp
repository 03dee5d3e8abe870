// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <span>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.allgather(send_buf(v), recv_buf<no_resize>(std::span<int>(v)));
}
