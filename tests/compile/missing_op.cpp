// expect: op: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.allreduce(send_buf(v));
#else
  auto sum = comm.allreduce(send_buf(v), op(std::plus<>{}));
#endif
}
