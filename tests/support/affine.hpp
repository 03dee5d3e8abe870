// SPDX-License-Identifier: Apache-2.0
//
// x -> a x + b over whole numbers that wrap: composition is associative and does not commute, so that a wrong
// order of operands gives a wrong result.
#pragma once

#include <cstdint>
#include <ostream>

namespace tests {

struct affine {
  std::uint64_t a, b;

  friend bool operator==(const affine&, const affine&) = default;
  friend std::ostream& operator<<(std::ostream& out, const affine& f) { return out << f.a << "x+" << f.b; }
};

/// f after g.
constexpr affine compose(const affine& f, const affine& g) { return {f.a * g.a, f.a * g.b + f.b}; }

}  // namespace tests
