// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
  using namespace std::placeholders;
#ifndef CORRECTED
  auto sum = comm.allreduce(send_buf(v), op(std::bind(std::plus<int>{}, _1, _2)));
#else
  [[maybe_unused]] auto sum = comm.allreduce(send_buf(v), op(std::bind(std::plus<>{}, _1, _2)));
#endif
}
