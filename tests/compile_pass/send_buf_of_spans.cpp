// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::optional<int>>& v) {
  using namespace tutti;
  comm.isend(send_buf(v), destination(0)).wait();
}
