// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto all = comm.allgather(send_buf_out(std::move(v)));
}
