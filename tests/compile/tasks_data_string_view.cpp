// expect: data: a view of const elements
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>

#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt, std::string_view v) { return rt.data(v, 0); }
#else
auto f(tutti::tasks::runtime& rt, std::array<char, 2>& v) { return rt.data(v, 0); }
#endif
