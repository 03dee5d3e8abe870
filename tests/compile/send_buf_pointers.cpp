// expect: send_buf: a pointer, not a buffer
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, int* p) {
  using namespace tutti;
#ifndef CORRECTED
  comm.allgather(send_buf({p, p + 1}));
#else
  comm.allgather(send_buf({p[0], p[1]}));
#endif
}
