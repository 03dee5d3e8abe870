// SPDX-License-Identifier: Apache-2.0
//
// The maps x -> a x + b over unsigned integers: composition is associative and not commutative, so
// a wrong order of operands gives a wrong result.
#pragma once

#include <cstdint>
#include <ostream>

namespace tests {

struct affine {
  std::uint64_t a, b;

  friend bool operator==(const affine&, const affine&) = default;
  friend std::ostream& operator<<(std::ostream& out, const affine& f) { return out << f.a << "x+" << f.b; }
};

/// Returns f after g.
constexpr affine compose(const affine& f, const affine& g) { return {f.a * g.a, f.a * g.b + f.b}; }

}  // namespace tests
