// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) { return rt.data<std::span<char>>(0, 7); }
