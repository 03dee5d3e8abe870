// expect: op: its result does not fit into an element: return the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/reproducible.hpp>

void f(tutti::communicator& comm, std::vector<float>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = reproducible_allreduce(comm, send_buf(v), op([](auto a, auto b) { return 0.5 * (a + b); }));
#else
  [[maybe_unused]] auto sum =
      reproducible_allreduce(comm, send_buf(v), op([](auto a, auto b) { return 0.5f * (a + b); }));
#endif
}
