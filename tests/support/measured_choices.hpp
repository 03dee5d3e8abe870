// SPDX-License-Identifier: Apache-2.0
//
// Choices by name, and calls with a size, for tests that grow trees from invented times.
#pragma once

#include <cstddef>
#include <string_view>

#include <gtest/gtest.h>

#include "tuning/grow.hpp"

namespace tutti::tuning {

inline leaf algorithm(collective what, std::string_view text) {
  leaf l;
  if (text == "native") return l;
  l.what = leaf::kind::algorithm;
  l.chosen = read_choice(what, text);
  if (l.chosen.pure == nullptr) ADD_FAILURE() << text;
  return l;
}
inline leaf composition(collective what, std::string_view text) {
  leaf l;
  l.what = text == "@pure" ? leaf::kind::pure : leaf::kind::composed;
  if (text != "@pure") l.composed = read_composition(what, text);
  return l;
}

inline selection_context call_of(collective what, int ranks, std::size_t size, bool native = true) {
  selection_context s;
  s.call.what = what;
  s.call.ranks = ranks;
  s.call.element_size = 8;
  s.call.kind = element_kind::f64;
  s.call.op = combines(what) ? builtin_op::sum : builtin_op::user;
  s.call.count = is_vector_form(what) ? 0 : size / 8;
  s.native = native;
  s.shared_memory = true;
  s.ranks_per_node = ranks;
  return s;
}

struct time_of {
  std::string_view name;
  double us;
};

}  // namespace tutti::tuning
