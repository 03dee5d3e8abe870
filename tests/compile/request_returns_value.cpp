// expect: send_recv_buf: missing: with request(r)
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::request& r) {
  using namespace tutti;
#ifndef CORRECTED
  comm.iallreduce_single(send_buf(v[0]), op(std::plus<>{}), request(r));
#else
  comm.iallreduce_single(send_recv_buf(v[0]), op(std::plus<>{}), request(r));
#endif
}
