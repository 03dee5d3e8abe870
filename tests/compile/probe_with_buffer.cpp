// expect: recv_buf: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.probe(recv_buf(v));
#else
  comm.probe();
#endif
}
