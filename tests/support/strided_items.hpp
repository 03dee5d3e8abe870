// SPDX-License-Identifier: Apache-2.0
//
// Items with gaps in a buffer of canaries, made by hand, as the reference for messages with
// layouts.
#pragma once

#include <vector>

#include "support/ring_messages.hpp"

namespace tests {

using ints = std::vector<int>;

inline constexpr int canary = -77;

// An item has two ints, `gap` ints apart. The next item begins `step` ints later.
struct strided {
  int gap, step;
  tutti::layout item() const {
    return tutti::layout::vector(2, 1, gap, tutti::type_of<int>())
        .resized(static_cast<std::size_t>(step) * sizeof(int));
  }
  std::size_t required_size(int items) const {
    return items == 0 ? 0 : static_cast<std::size_t>((items - 1) * step + gap + 1);
  }
  // Returns a buffer with these elements in its items, and `more` canaries after them.
  ints spread(const ints& dense, std::size_t more = 3) const {
    const int items = static_cast<int>(dense.size() / 2);
    ints v(required_size(items) + more, canary);
    for (int i = 0; i < items; ++i) {
      v[static_cast<std::size_t>(i * step)] = dense[static_cast<std::size_t>(2 * i)];
      v[static_cast<std::size_t>(i * step + gap)] = dense[static_cast<std::size_t>(2 * i + 1)];
    }
    return v;
  }
  // Returns a buffer that is large enough to receive into.
  ints blank(int items, std::size_t more = 3) const { return ints(required_size(items) + more, canary); }
};

inline constexpr strided wide{3, 5}, interleaved{3, 1}, dense{1, 2};

// Returns the `items` items that rank r sends.
inline ints items_by(int r, int items, int round = 0) {
  ints v(static_cast<std::size_t>(2 * items));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = 100000 * r + 10000 * round + static_cast<int>(i);
  return v;
}

}  // namespace tests
