// expect: is_same_on_all_ranks: the elements of this range are not trivially copyable
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/same.hpp>

void f(tutti::communicator& comm) {
  using namespace tutti;
#ifndef CORRECTED
  std::vector<std::string> words;
  bool same = is_same_on_all_ranks(comm, words);
#else
  std::string word;
  [[maybe_unused]] bool same = is_same_on_all_ranks(comm, word);
#endif
}
