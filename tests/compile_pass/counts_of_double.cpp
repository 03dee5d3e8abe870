// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<std::size_t> c(9);
  auto got = comm.alltoallv(send_buf(v), send_counts(c));
}
