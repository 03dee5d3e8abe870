// expect: recv_buf: all buffers or none: as_serialized(x) is sent, as_deserializable<T>() received
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.recv(recv_buf(as_serialized(v)));
#else
  comm.recv(recv_buf(as_deserializable(v)));
#endif
}
