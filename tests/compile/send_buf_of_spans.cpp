// expect: send_buf: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <span>
#include <vector>

#include <tutti/tutti.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<std::optional<std::span<int>>>& v) {
#else
void f(tutti::communicator& comm, std::vector<std::optional<int>>& v) {
#endif
  using namespace tutti;
  comm.isend(send_buf(v), destination(0)).wait();
}
