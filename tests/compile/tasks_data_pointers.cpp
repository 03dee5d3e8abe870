// expect: data: T is a pointer, which means nothing elsewhere
// SPDX-License-Identifier: Apache-2.0
#include <span>

#include <tutti/tasks.hpp>

#ifndef CORRECTED
auto f(tutti::tasks::runtime& rt, int* p) { return rt.data(p, 0); }
#else
auto f(tutti::tasks::runtime& rt, int* p) { return rt.data(std::span(p, 3), 0); }
#endif
