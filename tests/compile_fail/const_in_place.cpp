// expect: send_recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  const int x = 1;
  comm.bcast(send_recv_buf(x));
}
