// expect: send_count: takes one integer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(v), destination(0), send_count_out(v.size()));
#else
  comm.send(send_buf(v), destination(0), send_count_out(*p));
#endif
}
