// expect: op: its parameters are not of the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const auto f = [](double a, int b) { return a + b; };
  auto sum = comm.scan(send_buf(v), op(std::ref(f)));
#else
  const auto f = [](double a, double b) { return a + b; };
  [[maybe_unused]] auto sum = comm.scan(send_buf(v), op(std::ref(f)));
#endif
}
