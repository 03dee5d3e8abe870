// expect: recv_buf: its elements are not of the type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<double> w(3);
#ifndef CORRECTED
  comm.recv<int>(recv_buf(w));
#else
  comm.recv<double>(recv_buf(w));
#endif
}
