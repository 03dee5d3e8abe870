// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto got = comm.reduce_scatter(send_buf(v), recv_counts(v), op(std::plus<>{}));
}
