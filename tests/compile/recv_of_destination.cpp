// expect: destination: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.recv(recv_buf(v), destination(0));
#else
  comm.recv(recv_buf(v), source(0));
#endif
}
