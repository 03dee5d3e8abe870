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
  std::vector<std::byte> bytes;
  comm.allgather(send_buf(as_serialized(v)), recv_buf<resize_to_fit>(bytes));
#else
  std::vector<std::vector<std::string>> all;
  comm.allgather(send_buf(as_serialized(v)), recv_buf(as_deserializable(all)));
#endif
}
