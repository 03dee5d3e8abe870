// expect: data: a temporary: it would be gone at once
// SPDX-License-Identifier: Apache-2.0

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt) { return rt.data(3, 0); }
