// expect: send_buf: given twice
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto all = comm.allgather(send_buf(v), send_buf(1));
}
