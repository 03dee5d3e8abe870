// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  comm.send(send_buf(v), destination(0), send_type(type_of<int>()), send_count(1));
}
