// expect: send_buf: moved in or made by the call
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
#ifndef CORRECTED
  comm.isend(send_buf(std::move(v)), destination(0), request(r));
#else
  comm.isend(send_buf(v), destination(0), request(r));
#endif
}
