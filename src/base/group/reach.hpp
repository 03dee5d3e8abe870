// SPDX-License-Identifier: Apache-2.0
//
// States which ranks a member of a group can address. The same values describe what a group knows
// and what an algorithm needs. Distances are counted in ranks.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::detail {

/// The head of an algorithm's file states it, for example "neighbors around".
enum class reach : std::uint8_t {
  any_rank,
  hops_around,       ///< 1, 2, 4 ... away on both sides, wrapping around: a logring
  hops,              ///< the same, without wrapping around: a logchain
  neighbors_around,  ///< the next rank on both sides, wrapping around: a ring
  neighbors,         ///< the next rank on both sides, without wrapping around: a chain
};

constexpr bool wraps_around(reach r) noexcept {
  return r == reach::any_rank || r == reach::hops_around || r == reach::neighbors_around;
}
constexpr bool has_log_hops(reach r) noexcept {
  return r == reach::any_rank || r == reach::hops_around || r == reach::hops;
}

/// Whether a group whose members know `known` can run an algorithm that needs `needed`.
constexpr bool includes(reach known, reach needed) noexcept {
  return known == reach::any_rank ||
         (needed != reach::any_rank && wraps_around(known) >= wraps_around(needed) &&
          has_log_hops(known) >= has_log_hops(needed));
}

/// Whether rank `from` of `size` ranks can send to rank `to`. Every rank can send to itself.
constexpr bool can_reach(reach r, int from, int to, int size) noexcept {
  if (r == reach::any_rank || from == to) return true;
  const unsigned up = static_cast<unsigned>(to > from ? to - from : from - to);
  const auto near = [&](unsigned distance) {
    return has_log_hops(r) ? std::has_single_bit(distance) : distance == 1;
  };
  return near(up) || (wraps_around(r) && near(static_cast<unsigned>(size) - up));
}

constexpr std::string_view name_of(reach r) noexcept {
  constexpr std::string_view names[] = {"any rank", "hops around", "hops", "neighbors around", "neighbors"};
  return names[static_cast<std::size_t>(r)];
}

/// The ranks that a rank sends to, in words.
constexpr std::string_view description_of(reach r) noexcept {
  constexpr std::string_view words[] = {"ranks at any distance", "ranks 1, 2, 4 ... away, with wraparound",
                                        "ranks 1, 2, 4 ... away, without wraparound",
                                        "adjacent ranks, with wraparound",
                                        "adjacent ranks, without wraparound"};
  return words[static_cast<std::size_t>(r)];
}

}  // namespace tutti::detail
