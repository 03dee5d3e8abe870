// expect: recv_counts: this call takes it as input only
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto [got, counts] = comm.reduce_scatter(send_buf(v), recv_counts_out(), op(std::plus<>{}));
#else
  auto got = comm.reduce_scatter(send_buf(v), recv_counts(v), op(std::plus<>{}));
#endif
}
