// expect: send_recv_buf: this call takes no serialized objects
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_recv_buf(as_serialized(v)));
#else
  comm.bcast(send_recv_buf(as_serialized(v)));
#endif
}
