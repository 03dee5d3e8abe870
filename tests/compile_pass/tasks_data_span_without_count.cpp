// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) { return rt.data<std::span<int>>(0, 3); }
