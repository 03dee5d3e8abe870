// SPDX-License-Identifier: Apache-2.0
//
// Serial reference for sorting: all words, sorted with std::sort.
#pragma once

#include <algorithm>

#include "words.hpp"

namespace sort {

inline string_array oracle_sorted(const string_array& words) {
  std::vector<std::string_view> views = words.views();
  std::sort(views.begin(), views.end());
  return pack(views);
}

}  // namespace sort
