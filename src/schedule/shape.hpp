// SPDX-License-Identifier: Apache-2.0
//
// The shape: all that a schedule may depend on. These are the ranks, the own rank, the root, the
// kind of call, and the algorithm's parameters; neither addresses nor counts.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tutti/collective.hpp"

namespace tutti::detail {

/// The parameters that algorithms can have, in the order of `algorithm_parameter_names`.
enum class algorithm_parameter : std::uint8_t {
  k,          ///< fan-out, factor or base of the pattern
  radix,      ///< base of the digits of a block's index
  segment,    ///< bytes of one message of a pipeline
  window,     ///< maximum number of messages in progress
  blocks,     ///< number of blocks into which the vector is cut
  aggregate,  ///< blocks of one message, a power of two
  region,     ///< number of consecutive ranks that are near one another
  leaders,    ///< number of leader ranks of a node
};
inline constexpr std::array<std::string_view, 8> algorithm_parameter_names = {
    "k", "radix", "segment", "window", "blocks", "aggregate", "region", "leaders"};
constexpr std::string_view name_of(algorithm_parameter k) noexcept {
  return algorithm_parameter_names[static_cast<std::size_t>(k)];
}

/// The values of all parameters; 0 for those that an algorithm does not have.
using algorithm_parameter_values = std::array<std::uint32_t, algorithm_parameter_names.size()>;

struct shape {
  collective what = collective::barrier;
  int size = 1;  ///< number of ranks; for an inter-group call, of both groups together
  int rank = 0;  ///< the local rank
  int root = 0;
  bool in_place = false;
  bool commutative = true;
  /// In an inter-group call: number of ranks of the first group; the other ranks form the second.
  /// Otherwise 0.
  int first_group = 0;
  algorithm_parameter_values parameter_values{};
  std::span<const int> sources{}, destinations{};  ///< neighbors, for the neighbor collectives

  int of(algorithm_parameter k) const noexcept {
    return static_cast<int>(parameter_values[static_cast<std::size_t>(k)]);
  }
  /// The position of this rank relative to the root, for rooted algorithms; `absolute` is the
  /// inverse.
  int relative() const noexcept { return rank >= root ? rank - root : rank - root + size; }
  int absolute(int v) const noexcept { return v + root >= size ? v + root - size : v + root; }
};

}  // namespace tutti::detail
