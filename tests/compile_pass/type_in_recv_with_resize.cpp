// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v, const tutti::layout& item) {
  using namespace tutti;
  comm.recv(recv_buf(v), recv_type(item));
}
