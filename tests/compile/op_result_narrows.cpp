// expect: op: its result does not fit into an element: return the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = comm.reduce(send_buf(v), op([](int a, int b) { return 0.5 * a + 0.5 * b; }));
#else
  [[maybe_unused]] auto sum =
      comm.reduce(send_buf(v), op([](int a, int b) { return static_cast<int>(0.5 * a + 0.5 * b); }));
#endif
}
