// SPDX-License-Identifier: Apache-2.0
//
// All the words sorted by one process with std::sort, to check the sorting of many by.
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
