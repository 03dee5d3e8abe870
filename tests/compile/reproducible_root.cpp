// expect: root: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/reproducible.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = reproducible_allreduce(comm, send_buf({1.0, 2.0}), op(std::plus<>{}), root(0));
#else
  [[maybe_unused]] auto sum = reproducible_reduce(comm, send_buf({1.0, 2.0}), op(std::plus<>{}), root(0));
#endif
}
