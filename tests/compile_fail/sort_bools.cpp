// expect: sort: std::vector<bool> packs bits
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/sort.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
  std::vector<bool> v;
  tutti::sort(comm, v);
}
