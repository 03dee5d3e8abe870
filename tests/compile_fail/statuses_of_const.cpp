// expect: statuses: const
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tutti.hpp>
#include <vector>

void f(tutti::communicator& comm, std::vector<int>& v) {
  using namespace tutti;
  std::vector<request> requests;
  const std::vector<status> how;
  wait_all(requests, statuses(how));
}
