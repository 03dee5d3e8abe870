// expect: recv_buf: its elements are not of the type that is sent
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<double> w(9);
#else
  std::vector<int> w(9);
#endif
  comm.allgather(send_buf(v), recv_buf(w));
}
