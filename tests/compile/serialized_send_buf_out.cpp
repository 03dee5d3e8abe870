// expect: send_buf: this call takes it as input only
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/serialization.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf_out(as_serialized(std::move(v))), destination(0));
#else
  comm.send(send_buf(as_serialized(std::move(v))), destination(0));
#endif
}
