// SPDX-License-Identifier: Apache-2.0
//
// Buffers that contain items of a layout. Each layout is given twice, as a layout and as a list of
// positions. So the expected results need index arithmetic only. Elements outside all items contain
// `untouched` and must not change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "support/check.hpp"
#include "tutti/tutti.hpp"

namespace tests {

inline constexpr int untouched = -77;

struct item_shape {
  const char* name;
  tutti::layout item;
  std::vector<int> at;  // the elements of one item, in the order of sending
  int extent;           // elements from one item to the next

  int per() const { return static_cast<int>(at.size()); }
  /// The position of element j of item i.
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(i * extent + at[static_cast<std::size_t>(j)]);
  }
  /// The position of the k-th element to send, of items from number `first` on.
  std::size_t dense(int first, int k) const { return place(first + k / per(), k % per()); }
  /// A buffer that ends with the last byte of item n - 1.
  template <class T = int>
  std::vector<T> buffer(int n, T between = T(untouched)) const {
    std::size_t end = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < per(); ++j) end = std::max(end, place(i, j) + 1);
    return std::vector<T>(end, between);
  }
};

/// Layouts of every kind, with 1, 2 and 4 elements.
template <class T = int>
std::vector<item_shape> item_shapes() {
  using tutti::layout;
  const layout one = layout::of<T>();
  const auto bytes = [](int n) { return static_cast<std::size_t>(n) * sizeof(T); };
  const auto offset = [](int n) { return n * static_cast<std::ptrdiff_t>(sizeof(T)); };
  return {
      {"element", tutti::type_of<T>(), {0}, 1},
      {"pair", layout::contiguous(2, one), {0, 1}, 2},
      {"spaced", layout::contiguous(sizeof(T)).resized(bytes(3)), {0}, 3},
      {"strided", layout::vector(2, 1, 3, one).resized(bytes(5)), {0, 3}, 5},
      // The second part of an item is beyond the first parts of all others.
      {"columns", layout::vector(2, 1, 4096, one).resized(bytes(1)), {0, 4096}, 1},
      {"backwards", layout::indexed({{5, 1}, {2, 2}, {0, 1}}, one), {5, 2, 3, 0}, 6},
      {"fields",
       layout::structure({{offset(1), one}, {offset(3), layout::vector(2, 1, 2, one)}, {offset(7), one}},
                         bytes(9)),
       {1, 3, 5, 7},
       9},
  };
}

/// Returns whether the pair (`from`, `to`) is tested. With many ranks each layout is paired only
/// with the next one, because all pairs take too long.
inline bool is_tested(const std::vector<item_shape>& all, const item_shape& from, const item_shape& to,
                      int ranks) {
  const auto i = static_cast<std::size_t>(&from - all.data()), j = static_cast<std::size_t>(&to - all.data());
  return ranks <= 8 || j == (i + 1) % all.size();
}

/// The three forms of one collective.
template <class Blocking, class Begun, class Prepared>
struct three_forms {
  Blocking blocking;
  Begun begun;
  Prepared prepared;
};
template <class B, class I, class P>
three_forms(B, I, P) -> three_forms<B, I, P>;

/// Calls each form with the arguments that `with` passes. `prepare(round)` fills the buffers
/// before, and `verify(round)` checks them after. The destructor of a dropped request waits.
template <class Forms, class With, class Prepare, class Verify>
void in_all_forms(const Forms& forms, With&& with, Prepare&& prepare, Verify&& verify) {
  prepare(0);
  with(forms.blocking);
  verify(0);
  prepare(1);
  with(forms.begun).wait();
  verify(1);
  prepare(2);
  { auto dropped = with(forms.begun); }
  verify(2);
  auto plan = with(forms.prepared);
  for (int round = 3; round < 6; ++round) {
    prepare(round);
    plan.start();
    if (round == 4)
      while (!plan.test()) {
      }
    else
      plan.wait();
    verify(round);
  }
}

}  // namespace tests
