// expect: send_type: takes one tutti::layout
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(v), destination(0), send_type(1), send_count(1));
#else
  comm.send(send_buf(v), destination(0), send_type(type_of<int>()), send_count(1));
#endif
}
