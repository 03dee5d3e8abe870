// SPDX-License-Identifier: Apache-2.0
//
// What a schedule may depend on: the ranks, the own rank, the root, the kind of call, and the algorithm's
// parameters. Neither addresses nor counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/collective.hpp"

namespace tutti {

/// The parameters that algorithms have. The order is that of `algorithm_parameter_names`.
enum class algorithm_parameter : std::uint8_t {
  k,          ///< fan-out, factor or base of the pattern
  radix,      ///< base of the digits of a slot
  segment,    ///< bytes of one message of a pipeline
  window,     ///< messages under way together
  blocks,     ///< how many the vector is cut into
  aggregate,  ///< blocks of one message, a power of two
  region,     ///< ranks that are near one another, consecutive
  leaders,    ///< ranks of a node that speak for it
};
inline constexpr std::array<std::string_view, 8> algorithm_parameter_names = {
    "k", "radix", "segment", "window", "blocks", "aggregate", "region", "leaders"};
constexpr std::string_view name_of(algorithm_parameter k) noexcept {
  return algorithm_parameter_names[static_cast<std::size_t>(k)];
}

/// The value of every parameter; those that an algorithm has not are 0.
using algorithm_parameter_values = std::array<std::uint32_t, algorithm_parameter_names.size()>;

struct shape {
  collective what = collective::barrier;
  int size = 1;  ///< ranks; of both groups in a call between two
  int rank = 0;  ///< this one
  int root = 0;
  bool in_place = false;
  bool commutative = true;
  int first_group =
      0;  ///< between two groups: how many ranks the first has, the others are the second; else 0
  algorithm_parameter_values parameter_values{};
  std::span<const int> sources{}, destinations{};  ///< neighbours, of the neighbour collectives

  int of(algorithm_parameter k) const noexcept {
    return static_cast<int>(parameter_values[static_cast<std::size_t>(k)]);
  }
  /// Ranks relative to the root, for rooted algorithms.
  int relative() const noexcept { return rank >= root ? rank - root : rank - root + size; }
  int absolute(int v) const noexcept { return v + root >= size ? v + root - size : v + root; }
};

}  // namespace tutti
