// expect: op: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.iallreduce(send_buf(v)).wait();
#else
  auto sum = comm.iallreduce(send_buf(v), op(std::plus<>{})).wait();
#endif
}
