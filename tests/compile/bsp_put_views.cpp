// expect: src: elements hold addresses
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <vector>

#include <tutti/bsp.hpp>

#ifndef CORRECTED
void f(tutti::bsp::context& ctx, std::vector<std::string_view>& v, tutti::bsp::global_slot<char>& s) {
  ctx.put(v, 1, s);
}
#else
void f(tutti::bsp::context& ctx, std::vector<char>& v, tutti::bsp::global_slot<char>& s) { ctx.put(v, 1, s); }
#endif
