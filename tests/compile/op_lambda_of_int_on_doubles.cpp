// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.iallreduce(send_buf(v), op([](int a, int b) { return a + b; }));
#else
  auto sum = comm.iallreduce(send_buf(v), op([](const double& a, double b) { return a + b; }));
#endif
}
