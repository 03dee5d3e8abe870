// expect: send_count: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.send(send_buf(as_serialized(v)), destination(0), send_count(1));
#else
  comm.send(send_buf(as_serialized(v)), destination(0));
#endif
}
