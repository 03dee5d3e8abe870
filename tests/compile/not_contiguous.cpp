// expect: send_buf: not a contiguous container
// SPDX-License-Identifier: Apache-2.0
#include <list>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::list<int> items(3);
  auto all = comm.allgather(send_buf(items));
#else
  auto all = comm.allgather(send_buf(v));
#endif
}
