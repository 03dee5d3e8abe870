// expect: statuses: takes one container of tutti::status
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/tutti.hpp>

void f(tutti::communicator& comm, std::vector<int>& v, std::vector<tutti::request>& requests) {
  using namespace tutti;
#ifndef CORRECTED
  wait_all(requests, statuses_out(v));
#else
  (void)wait_all(requests, statuses_out());
#endif
}
