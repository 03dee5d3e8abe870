// expect: status: takes a tutti::status
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  (void)comm.recv<int>(status_out(1));
#else
  (void)comm.recv<int>(status_out());
#endif
}
