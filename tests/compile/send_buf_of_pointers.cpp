// expect: send_buf: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<int*>& v) {
#else
void f(tutti::communicator& comm, std::vector<int>& v) {
#endif
  using namespace tutti;
  comm.bcast(send_recv_buf(v));
  comm.allgather(send_buf(v));
}
