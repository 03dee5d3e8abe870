// expect: status: const
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  const status s;
#else
  status s;
#endif
  comm.recv(recv_buf(v), status_out(s));
}
