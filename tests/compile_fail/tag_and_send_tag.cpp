// expect: send_tag: tag stands for
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto got = comm.sendrecv(send_buf(v), destination(0), tag(1), send_tag(2));
}
