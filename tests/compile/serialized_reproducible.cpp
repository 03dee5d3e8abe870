// expect: send_buf: this call takes no serialized objects
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/reproducible.hpp>
#include <tutti/serialization.hpp>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto sum = reproducible_reduce(comm, send_buf(as_serialized(v)), op(std::plus<>{}));
#else
  [[maybe_unused]] auto sum = reproducible_reduce(comm, send_buf(v), op(std::plus<>{}));
#endif
}
