// SPDX-License-Identifier: Apache-2.0
#include <tutti/reproducible.hpp>
#include <tutti/serialization.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<double>& v) {
  using namespace tutti;
  [[maybe_unused]] auto sum = reproducible_reduce(comm, send_buf(v), op(std::plus<>{}));
}
