// expect: needs_serialize<std::basic_string_view<char
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto text = comm.recv(recv_buf(as_deserializable<std::string_view>()));
#else
  auto text = comm.recv(recv_buf(as_deserializable<std::string>()));
#endif
}
