// expect: data: a count, but T is no span
// SPDX-License-Identifier: Apache-2.0

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) { return rt.data<int>(0, 3); }
