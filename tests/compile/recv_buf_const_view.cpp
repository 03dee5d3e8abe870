// expect: recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <vector>

#include <tutti/tutti.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<int>& v, const std::vector<int>& out) {
#else
void f(tutti::communicator& comm, std::vector<int>& v, std::vector<int>& out) {
#endif
  using namespace tutti;
  comm.allgather(send_buf(v), recv_buf(std::views::take(out, 2)));
}
