// expect: op: cannot be called with two elements
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.allreduce(send_buf(v), op([](int a) { return a; }));
#else
  auto sum = comm.allreduce(send_buf(v), op([](int a, int b) { return a + b; }));
#endif
}
