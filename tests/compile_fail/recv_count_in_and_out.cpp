// expect: recv_count: given twice
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  int n = 0;
  comm.recv(recv_buf(v), recv_count(3), recv_count_out(n));
}
