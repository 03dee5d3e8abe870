// expect: send_buf: not a contiguous container
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <list>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::list<int> items(3);
  auto all = comm.allgather(send_buf(items));
}
