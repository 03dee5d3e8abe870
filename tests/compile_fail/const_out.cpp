// expect: recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  const std::vector<int> w(9);
  comm.allgather(send_buf(v), recv_buf(w));
}
