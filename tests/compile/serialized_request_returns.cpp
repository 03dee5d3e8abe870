// expect: recv_buf: moved in or made by the call
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
  request r;
#ifndef CORRECTED
  comm.irecv(recv_buf(as_deserializable<std::string>()), request(r));
#else
  comm.irecv(recv_buf(as_deserializable(v)), request(r));
#endif
}
