// expect: send_counts: takes a container of int or of std::size_t
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<double> c(9);
#else
  std::vector<std::size_t> c(9);
#endif
  auto got = comm.alltoallv(send_buf(v), send_counts(c));
}
