// expect: recv_buf: missing: with request(r)
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
#ifndef CORRECTED
  comm.iallgather(send_buf(v), request(r));
#else
  std::vector<int> all(v.size() * static_cast<std::size_t>(comm.size()));
  comm.iallgather(send_buf(v), request(r), recv_buf(all));
#endif
}
