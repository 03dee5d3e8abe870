// expect: send_counts: not a contiguous container
// SPDX-License-Identifier: Apache-2.0
#include <ranges>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, std::vector<int>& c) {
  using namespace tutti;
#ifndef CORRECTED
  comm.alltoallv(send_buf(v), send_counts(c | std::views::reverse));
#else
  comm.alltoallv(send_buf(v), send_counts(c | std::views::take(comm.size())));
#endif
}
