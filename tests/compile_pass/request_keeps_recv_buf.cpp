// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::request& r, const std::vector<int>& w) {
  using namespace tutti;
  comm.iallgather(send_buf(w), recv_buf<resize_to_fit>(v), request(r));
}
