// expect: recv_buf: const
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const std::vector<int> w(3);
#else
  std::vector<int> w(3);
#endif
  comm.recv(recv_buf(w), source(0));
}
