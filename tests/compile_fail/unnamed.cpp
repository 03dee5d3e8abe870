// expect: unnamed argument, not a parameter: did you mean send_buf(x)?
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto all = comm.allgatherv(v, recv_counts_out());
}
