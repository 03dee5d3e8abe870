// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.allreduce(send_buf(v), op(std::plus<int>{}));
#else
  [[maybe_unused]] auto sum = comm.allreduce(send_buf(v), op(std::plus<double>{}));
#endif
}
