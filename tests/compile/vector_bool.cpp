// expect: send_buf: std::vector<bool> packs bits
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<bool> flags(3);
#else
  dynamic_array<bool> flags(v.size());
#endif
  auto all = comm.allgather(send_buf(flags));
}
