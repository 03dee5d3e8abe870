// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/same.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
  std::string word;
  [[maybe_unused]] bool same = is_same_on_all_ranks(comm, word);
}
