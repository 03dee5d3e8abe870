// expect: send_buf: takes a range of objects, one for each rank
// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <vector>

#include <tutti/serialization.hpp>
#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<std::string>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto mine = comm.scatter(send_buf(as_serialized(5)));
#else
  auto mine = comm.scatter(send_buf(as_serialized(v)));
#endif
}
