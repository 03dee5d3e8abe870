// expect: destination: missing
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(v), tag(1));
#else
  comm.send(send_buf(v), tag(1), destination(0));
#endif
}
