// expect: root: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto all = comm.allgather(send_buf(v), root(1));
#else
  auto all = comm.gather(send_buf(v), root(1));
#endif
}
