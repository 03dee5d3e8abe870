// expect: send_buf: this call takes no serialized objects
// SPDX-License-Identifier: Apache-2.0
#include <tutti/reproducible.hpp>
#include <tutti/serialization.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
  auto sum = reproducible_reduce(comm, send_buf(as_serialized(v)), op(std::plus<>{}));
}
