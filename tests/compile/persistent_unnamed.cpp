// expect: unnamed argument, not a parameter: did you mean send_buf(x)?
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto plan = comm.allgather_init(v);
#else
  auto plan = comm.allgather_init(send_buf(v));
#endif
}
