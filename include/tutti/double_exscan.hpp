// SPDX-License-Identifier: Apache-2.0
//
// Exclusive scans in both directions at once, as splits are made of: each rank receives the combination of
// all ranks before it, and of all behind it. Not included by tutti.hpp.
//
// In round d each rank exchanges with those 2^d before and behind it, ceil(log2 p) rounds of two messages
// each way. Source: Moody, Ahn, de Supinski, Exascale algorithms for generalized MPI_Comm_split, EuroMPI
// 2011.
//
// ```cpp
// #include <tutti/double_exscan.hpp>
// std::vector<int> ones = {1, 1};
// auto [before, behind] = double_exscan(world, send_buf(ones), op(std::plus<>{}));
// assert(before.empty() == (world.rank() == 0));  // nobody is before the first
// assert(world.rank() == 0 || before[1] == world.rank());
// assert(behind.empty() || behind[0] == world.size() - 1 - world.rank());
// ```
#pragma once

#include <optional>
#include <vector>

#include "tutti/communicator.hpp"

namespace tutti {
namespace detail {

/// n elements each. False where there is no rank on that side: then nothing is written there.
struct sides_found {
  bool left, right;
};
sides_found double_exscan(core&, element type, std::size_t n, const operation& op, const void* own,
                          void* from_left, void* from_right);

template <class T, class... Args>
consteval verdict judged_double_exscan() {
  rules r;
  r.buffer = parameter::send_buf;
  r.in = {parameter::send_buf, parameter::op};
  r.required.add(parameter::op);
  if constexpr (sizeof...(Args) == 0) {
    return judge(r, false, nullptr, 0);
  } else {
    constexpr seen_argument seen[] = {seen_in<T, Args>...};
    return judge(r, false, seen, sizeof...(Args));
  }
}

}  // namespace detail

/// Of each side the combination in the order of ranks, as many elements as were sent; empty where there is no
/// rank on that side.
template <class T>
struct both_sides {
  std::vector<T> from_left;   ///< of all ranks before this one
  std::vector<T> from_right;  ///< of all ranks behind it
};

/// Collective: `double_exscan(comm, send_buf(v), op(f))`, with as many elements on all ranks, and any
/// operator that op() takes, also one that does not commute. Throws mismatch_error where the lengths differ,
/// usage_error on a communicator that was freed.
template <class... Args>
auto double_exscan(const communicator& comm, Args&&... args) {
  using element_type = detail::element_of_call<void, std::remove_cvref_t<Args>...>;
  constexpr detail::verdict v = detail::judged_double_exscan<element_type, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != detail::problem::none) {
    detail::complaint<v.what, v.which>{};
    return detail::mistaken{};
  } else {
    detail::bag<std::remove_cvref_t<Args>&...> bag{{detail::without_const(args)}...};
    auto& buffer = detail::get<parameter::send_buf>(bag).data;
    const operation how = detail::operation_for<element_type>(detail::get<parameter::op>(bag).data);
    const std::size_t n = detail::size_of(buffer);
    both_sides<element_type> result{std::vector<element_type>(n), std::vector<element_type>(n)};
    const auto found =
        detail::double_exscan(comm.native(), element_of<element_type>(), n, how, detail::data_of(buffer),
                              result.from_left.data(), result.from_right.data());
    if (!found.left) result.from_left.clear();
    if (!found.right) result.from_right.clear();
    return result;
  }
}

}  // namespace tutti
