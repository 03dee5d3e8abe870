// expect: unnamed argument, not a parameter
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.irecv(recv_buf(v), 0, tag(2));
}
