// expect: statuses: const
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<request> requests;
#ifndef CORRECTED
  const std::vector<status> how;
#else
  std::vector<status> how;
#endif
  wait_all(requests, statuses(how));
}
