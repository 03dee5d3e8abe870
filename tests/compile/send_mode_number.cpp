// expect: send_mode: takes one of send_modes
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(v), destination(0), send_mode(1));
#else
  comm.send(send_buf(v), destination(0), send_mode(send_modes::synchronous));
#endif
}
