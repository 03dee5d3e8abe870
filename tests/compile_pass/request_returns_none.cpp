// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
  std::vector<int> all(v.size() * static_cast<std::size_t>(comm.size()));
  comm.iallgather(send_buf(v), request(r), recv_buf(all));
}
