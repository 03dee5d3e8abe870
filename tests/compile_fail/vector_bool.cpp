// expect: send_buf: std::vector<bool> packs bits
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<bool> flags(3);
  auto all = comm.allgather(send_buf(flags));
}
