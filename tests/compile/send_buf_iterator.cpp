// expect: send_buf: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf(v.begin()));
#else
  comm.allgather(send_buf(*v.begin()));
#endif
}
