// SPDX-License-Identifier: Apache-2.0
//
// Exclusive scans in both directions at once, which splits use. Each rank receives the combination
// of all ranks before it, and that of all ranks behind it. tutti.hpp does not include this header.
//
// In round d each rank exchanges with the ranks 2^d before and 2^d behind it. There are ceil(log2
// p) rounds of two messages each way. Source: Moody, Ahn, de Supinski, Exascale algorithms for
// generalized MPI_Comm_split, EuroMPI 2011.
//
// ```cpp
// #include <tutti/double_exscan.hpp>
// std::vector<int> ones = {1, 1};
// auto [before, behind] = world.double_exscan(send_buf(ones), op(std::plus<>{}));
// assert(before.empty() == (world.rank() == 0));  // nobody is before the first
// assert(world.rank() == 0 || before[1] == world.rank());
// assert(behind.empty() || behind[0] == world.size() - 1 - world.rank());
// ```
#pragma once

#include "tutti/communicator.hpp"
#include "tutti/detail/combining_rules.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// Each side has n elements. A flag is false if there is no rank on that side; then nothing is
/// written there.
struct sides_found {
  bool left, right;
};
sides_found double_exscan(communicator_impl&, element type, std::size_t n, const operation& op,
                          const void* own, void* from_left, void* from_right);

}  // namespace detail

/// The combination of each side, in the order of ranks, with as many elements as were sent. A side
/// without ranks is empty.
template <class T>
struct both_sides {
  detail::default_container<T> from_left;   ///< of all ranks before this one
  detail::default_container<T> from_right;  ///< of all ranks behind this one
};

template <class... Args>
auto communicator::double_exscan(Args&&... args) const {
  using element_type = detail::element_of_call<void, std::remove_cvref_t<Args>...>;
  constexpr detail::argument_error v =
      detail::error_of_combination<false, element_type, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != detail::problem::none) {
    detail::diagnostic<v.what, v.which>{};
    return detail::rejected_call_result{};
  } else {
    detail::argument_set<std::remove_cvref_t<Args>&...> arguments{{detail::without_const(args)}...};
    auto& buffer = detail::get<parameter::send_buf>(arguments).data;
    const operation how = detail::operation_for<element_type>(detail::get<parameter::op>(arguments).data);
    const std::size_t n = detail::size_of(buffer);
    both_sides<element_type> result;
    result.from_left.resize(n);
    result.from_right.resize(n);
    const auto found =
        detail::double_exscan(*impl_, element_of<element_type>(), n, how, detail::data_of(buffer),
                              result.from_left.data(), result.from_right.data());
    if (!found.left) result.from_left.resize(0);
    if (!found.right) result.from_right.resize(0);
    return result;
  }
}

}  // namespace tutti
TUTTI_API_END
