// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.allreduce(send_buf(v), op([](int a, int b, int = 0) { return a + b; }));
#else
  auto sum = comm.allreduce(send_buf(v), op([](double a, double b, int = 0) { return a + b; }));
#endif
}
