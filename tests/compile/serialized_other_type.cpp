// expect: recv_buf: its elements are not of the type that is sent
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto all =
      comm.allgather(send_buf(as_serialized(v)), recv_buf(as_deserializable<std::vector<std::string>>()));
#else
  auto all = comm.allgather(send_buf(as_serialized(v)),
                            recv_buf(as_deserializable<std::vector<std::vector<std::string>>>()));
#endif
}
