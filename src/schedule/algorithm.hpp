// SPDX-License-Identifier: Apache-2.0
//
// An algorithm: its name, what it demands, what it costs, and the function that writes its schedule. One
// constant in one file; the catalogue of all of them is generated from the files.
#pragma once

#include <span>
#include <string_view>

#include "schedule/builder.hpp"
#include "tutti/core/collective.hpp"

namespace tutti {

/// What an algorithm demands of a call, as bits. Names as in the trees.
enum class restriction : std::uint32_t {
  none = 0,
  power_of_two = 1u << 0,  ///< the number of ranks
  commutative = 1u << 1,
  builtin_op = 1u << 2,
  not_in_place = 1u << 3,
  even_ranks = 1u << 5,
  count_ge_ranks = 1u << 6,
  in_place = 1u << 8,
};
constexpr restriction operator|(restriction a, restriction b) {
  return static_cast<restriction>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool demands(restriction all, restriction one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

struct pure_algorithm {
  std::string_view name;  ///< "allreduce/ring"
  collective what;
  restriction needs = restriction::none;
  std::string_view idea, source, rounds, bytes, scratch;
  void (*write)(const shape&, builder&) = nullptr;

  std::string_view short_name() const noexcept { return name.substr(name.find('/') + 1); }
};

/// All algorithms, by name. Generated (see cmake).
std::span<const pure_algorithm* const> catalogue() noexcept;

}  // namespace tutti
