// SPDX-License-Identifier: Apache-2.0
//
// An algorithm: its name, what it demands, what it costs, and the function that writes its schedule. All but
// the function is read off the comment at the head of its file when the project is built
// (cmake/catalogue.cmake says how), so that what a reader sees, what `tutti list` prints and what is proved
// are one text.
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
  equal_regions = 1u << 9,  ///< parameter region divides the number of ranks
  inter = 1u << 10,         ///< between two groups; algorithms without it serve calls within one
};
constexpr restriction operator|(restriction a, restriction b) {
  return static_cast<restriction>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool demands(restriction all, restriction one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

struct restriction_name {
  restriction which;
  std::string_view name;
};
inline constexpr restriction_name restriction_names[] = {{restriction::power_of_two, "power_of_two"},
                                                         {restriction::commutative, "commutative"},
                                                         {restriction::builtin_op, "builtin_op"},
                                                         {restriction::not_in_place, "not_in_place"},
                                                         {restriction::even_ranks, "even_ranks"},
                                                         {restriction::count_ge_ranks, "count_ge_ranks"},
                                                         {restriction::in_place, "in_place"},
                                                         {restriction::equal_regions, "equal_regions"},
                                                         {restriction::inter, "inter"}};

/// A parameter that an algorithm has.
struct knob_range {
  knob which;
  std::uint32_t usual, least, most;
  std::string_view what;
};

struct pure_algorithm {
  std::string_view name;  ///< "allreduce/ring"
  collective what;
  restriction needs = restriction::none;
  std::string_view idea, source;
  std::string_view rounds, bytes, scratch;  ///< formulas (check/formula.hpp)
  std::string_view good_for;
  std::span<const knob_range> parameters;
  void (*write)(const shape&, builder&) = nullptr;

  std::string_view short_name() const noexcept { return name.substr(name.find('/') + 1); }
  knob_values usual() const noexcept {
    knob_values all{};
    for (const knob_range& p : parameters) all[static_cast<std::size_t>(p.which)] = p.usual;
    return all;
  }
};

/// All algorithms, by name. Generated (see cmake).
std::span<const pure_algorithm* const> catalogue() noexcept;

}  // namespace tutti
