// expect: op: its result does not fit into an element
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto sum = comm.reduce(send_buf(v), op([](int a, int b) { return 0.5 * a + 0.5 * b; }));
}
