// expect: recv_buf: const, but the call writes to it
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const std::string text;
#else
  std::string text;
#endif
  comm.recv(recv_buf(as_deserializable(text)));
}
