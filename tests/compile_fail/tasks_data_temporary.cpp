// expect: data: a temporary container: it would be gone at once
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) { return rt.data(std::vector<int>(3), 0); }
