// expect: send_buf: elements are not trivially copyable, as_serialized(x) sends them
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<std::string> names(3);
  auto all = comm.allgather(send_buf(names));
#else
  std::string name(3, 'x');
  auto all = comm.allgather(send_buf(name));
#endif
}
