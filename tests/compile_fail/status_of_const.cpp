// expect: status: const
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  const status s;
  comm.recv(recv_buf(v), status_out(s));
}
