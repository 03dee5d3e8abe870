// expect: needs_serialize<const char*>
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::map<int, const char*> names;
#else
  std::map<int, std::string> names;
#endif
  comm.bcast(send_recv_buf(as_serialized(names)));
}
