// expect: send_counts: takes a container of int or of std::size_t
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<double> c(9);
  auto got = comm.alltoallv(send_buf(v), send_counts(c));
}
