// expect: recv_buf: pass one, or name the element type
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  int got = comm.recv_single(source(0));
#else
  [[maybe_unused]] int got = comm.recv_single<int>(source(0));
#endif
}
