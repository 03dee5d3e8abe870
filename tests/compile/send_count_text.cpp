// expect: send_count: takes one integer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(v), destination(0), send_count("x"));
#else
  comm.send(send_buf(v), destination(0), send_count(v.size()));
#endif
}
