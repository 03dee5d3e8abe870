// expect: recv_buf: pass one, or name the element type
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  auto got = comm.recv(source(0));
}
