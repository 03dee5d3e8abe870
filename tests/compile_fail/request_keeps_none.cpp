// expect: send_buf: moved in or made by the call
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  request r;
  comm.isend(send_buf(std::move(v)), destination(0), request(r));
}
