// SPDX-License-Identifier: Apache-2.0
#include <span>

#include <tutti/tasks.hpp>

auto f(tutti::tasks::runtime& rt, int* p) { return rt.data(std::span(p, 3), 0); }
