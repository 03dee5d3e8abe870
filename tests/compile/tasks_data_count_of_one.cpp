// expect: data: a count, but T is not a span
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt) { return rt.data<int>(0, 3); }
#else
auto f(tutti::tasks::runtime& rt) { return rt.data<std::span<int>>(0, 3); }
#endif
