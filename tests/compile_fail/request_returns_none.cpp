// expect: recv_buf: missing: with request(r)
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
  comm.iallgather(send_buf(v), request(r));
}
