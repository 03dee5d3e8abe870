// expect: recv_counts: missing
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto [got, counts, received] = comm.alltoallv(send_buf(v), send_counts_out(), recv_counts_out());
}
