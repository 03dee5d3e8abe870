// expect: send_buf: elements are not trivially copyable, as_serialized(x) sends them
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <string>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<std::string> names(3);
  auto all = comm.allgather(send_buf(names));
}
