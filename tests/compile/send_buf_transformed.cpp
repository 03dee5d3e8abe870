// expect: send_buf: not a contiguous container
// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v | std::views::transform([](int x) { return x + 1; })));
#else
  comm.allgather(send_buf(v | std::views::take(2)));
#endif
}
