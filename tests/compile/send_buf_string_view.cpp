// expect: send_buf: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <vector>

#include <tutti/tutti.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<std::pair<int, std::string_view>>& v) {
#else
void f(tutti::communicator& comm, std::vector<std::pair<int, std::array<char, 8>>>& v) {
#endif
  using namespace tutti;
  comm.allgather(send_buf(v));
}
