// expect: recv_buf: moved in or made by the call
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::request& r, const std::vector<int>& w) {
  using namespace tutti;
#ifndef CORRECTED
  comm.iallgather(send_buf(w), recv_buf<resize_to_fit>(std::move(v)), request(r));
#else
  comm.iallgather(send_buf(w), recv_buf<resize_to_fit>(v), request(r));
#endif
}
