// expect: request::request
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::request& r) {
  using namespace tutti;
#ifndef CORRECTED
  comm.isend(send_buf(v), destination(0), request(1));
#else
  comm.isend(send_buf(v), destination(0), request(r));
#endif
}
