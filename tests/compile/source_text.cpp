// expect: source: takes one rank
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
#ifndef CORRECTED
  comm.recv<int>(source("x"));
#else
  comm.recv<int>(source(rank::any));
#endif
}
