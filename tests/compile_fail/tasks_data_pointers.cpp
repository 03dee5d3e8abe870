// expect: data: T is a pointer, which means nothing elsewhere
// SPDX-License-Identifier: Apache-2.0
#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt, int* p) { return rt.data(p, 0); }
