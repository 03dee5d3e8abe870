// expect: recv_buf: pass one, or name the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  auto got = comm.recv(source(0));
#else
  auto got = comm.recv<int>(source(0));
#endif
}
