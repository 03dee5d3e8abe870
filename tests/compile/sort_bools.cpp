// expect: sort: std::vector<bool> packs bits
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/sort.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<bool> v;
#else
  std::vector<char> v;
#endif
  tutti::sort_globally(comm, v);
}
