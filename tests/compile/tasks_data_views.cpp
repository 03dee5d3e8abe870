// expect: data: T holds an address
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt, std::array<std::string_view, 2>& v) { return rt.data(v, 0); }
#else
auto f(tutti::tasks::runtime& rt, std::array<char, 2>& v) { return rt.data(v, 0); }
#endif
