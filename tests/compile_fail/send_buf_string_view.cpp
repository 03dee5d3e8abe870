// expect: send_buf: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::pair<int, std::string_view>>& v) {
  using namespace tutti;
  comm.allgather(send_buf(v));
}
