// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::pair<int, std::array<char, 8>>>& v) {
  using namespace tutti;
  comm.allgather(send_buf(v));
}
