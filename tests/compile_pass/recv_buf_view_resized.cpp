// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, std::vector<int>& out) {
  using namespace tutti;
  comm.allgather(send_buf(v), recv_buf(std::views::take(out, 2)));
}
