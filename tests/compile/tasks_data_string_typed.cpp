// expect: data: T is not trivially copyable, or const
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt) { return rt.data<std::string>(0); }
#else
auto f(tutti::tasks::runtime& rt) { return rt.data<std::span<char>>(0, 7); }
#endif
