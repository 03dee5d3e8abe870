// expect: area: a temporary, gone before anybody can use it
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <tutti/bsp.hpp>

void f(tutti::bsp::context& ctx) { auto there = ctx.registered(std::vector<int>(3)); }
