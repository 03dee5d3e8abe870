// expect: root: takes one rank
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.bcast(send_recv_buf(v), root("a"));
#else
  comm.bcast(send_recv_buf(v), root('a' - 'a'));
#endif
}
