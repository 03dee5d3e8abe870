// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::request& r) {
  using namespace tutti;
  comm.iallreduce_single(send_recv_buf(v[0]), op(std::plus<>{}), request(r));
}
