// expect: status::status
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, tutti::status& s) {
  using namespace tutti;
#ifndef CORRECTED
  comm.recv<int>(status(1));
#else
  comm.recv<int>(status(s));
#endif
}
