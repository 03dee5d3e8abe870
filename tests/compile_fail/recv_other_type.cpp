// expect: recv_buf: its elements are not of the type
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<double> w(3);
  comm.recv<int>(recv_buf(w));
}
