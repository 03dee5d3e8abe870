// expect: op: takes one callable
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allreduce(send_buf(v), op());
#else
  comm.allreduce(send_buf(v), op(std::plus<>{}));
#endif
}
