// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/reproducible.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  reproducible(comm, v.size()).reduce(send_buf(v), op(std::plus<>{}));
}
