// expect: source: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  message m = comm.mprobe();
  v = m.recv<int>(source(0));
#else
  message m = comm.mprobe(source(0));
  v = m.recv<int>();
#endif
}
