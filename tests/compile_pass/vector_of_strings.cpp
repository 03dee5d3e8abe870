// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <string>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::string name(3, 'x');
  auto all = comm.allgather(send_buf(name));
}
