// expect: data: T holds an address
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt, std::array<std::string_view, 2>& v) { return rt.data(v, 0); }
