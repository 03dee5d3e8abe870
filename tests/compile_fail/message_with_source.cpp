// expect: source: this call does not take it
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  message m = comm.mprobe();
  v = m.recv<int>(source(0));
}
