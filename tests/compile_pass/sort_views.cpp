// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include <tutti/sort.hpp>

void f(tutti::communicator& comm, std::vector<char>& v) { tutti::sort(comm, v); }
