// expect: sort: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include <tutti/sort.hpp>

#ifndef CORRECTED
void f(tutti::communicator& comm, std::vector<std::string_view>& v) { tutti::sort_globally(comm, v); }
#else
void f(tutti::communicator& comm, std::vector<char>& v) { tutti::sort_globally(comm, v); }
#endif
