// SPDX-License-Identifier: Apache-2.0
//
// Converts containers of containers, one per rank, to one buffer with counts for a vector
// collective, and back. tutti.hpp does not include this header.
//
// ```cpp
// #include <map>
// #include <tutti/flatten.hpp>
// std::map<int, std::vector<int>> mail;  // what goes to whom; most ranks get nothing
// mail[0] = {world.rank()};
// mail[world.size() - 1].push_back(7);
// auto [received, counts] = flatten(mail, world.size()).call([&](auto... flat) {
//   return world.alltoallv(std::move(flat)..., recv_counts_out());
// });
// std::vector<std::vector<int>> from = unflatten(received, counts);  // one for each rank
// if (world.is_root()) assert(from[1 % world.size()][0] == 1 % world.size());
// ```
#pragma once

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/detail/export.hpp"
#include "tutti/error.hpp"
#include "tutti/parameters.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// All elements in one buffer, first those for rank 0.
template <class T>
struct flattened {
  detail::default_container<T> data;  ///< a std::vector<T>; dynamic_array<bool> for bool
  std::vector<std::size_t> counts;    ///< elements per rank
  std::vector<std::size_t> displs;    ///< where the elements for each rank begin in data

  /// Calls `f(send_buf(...), send_counts(...), send_displs(...))` and returns its result. The
  /// parameters own the data that is moved out of this object.
  template <class F>
  decltype(auto) call(F&& f) && {
    return static_cast<F&&>(f)(send_buf(std::move(data)), send_counts(std::move(counts)),
                               send_displs(std::move(displs)));
  }
  /// The same, with parameters that refer to this object.
  template <class F>
  decltype(auto) call(F&& f) const& {
    return static_cast<F&&>(f)(send_buf(data), send_counts(counts), send_displs(displs));
  }
};

namespace detail {

template <class Item>
concept keyed = requires(const Item& item) {
  { std::get<0>(item) } -> std::convertible_to<long long>;
  std::get<1>(item).begin();
};

[[noreturn]] inline void reject_nested(const char* operation, const char* parameter, std::string problem,
                                       const char* remedy) {
  throw usage_error(operation, -1, parameter, std::move(problem), remedy);
}

/// Calls visit(rank, container) for each inner container.
template <class Nested, class Visit>
void for_each_inside(const Nested& nested, std::size_t size, Visit&& visit) {
  if constexpr (keyed<std::remove_cvref_t<decltype(*nested.begin())>>) {
    for (const auto& item : nested) {
      const auto rank = static_cast<long long>(std::get<0>(item));
      if (rank < 0 || static_cast<unsigned long long>(rank) >= size)
        reject_nested(
            "flatten", "nested",
            "names rank " + std::to_string(rank) + ", but ranks are 0 to " + std::to_string(size - 1),
            "name ranks of the communicator");
      visit(static_cast<std::size_t>(rank), std::get<1>(item));
    }
  } else {
    std::size_t rank = 0;
    for (const auto& inside : nested) {
      if (rank < size) visit(rank, inside);
      ++rank;
    }
    if (rank != size)
      reject_nested("flatten", "nested",
                    "holds " + std::to_string(rank) + " containers for " + std::to_string(size) + " ranks",
                    "pass one for each rank, or pairs of a rank and its container");
  }
}

template <class Nested>
auto element_inside() {
  using item = std::remove_cvref_t<decltype(*std::declval<const Nested&>().begin())>;
  if constexpr (keyed<item>)
    return std::type_identity<
        std::remove_cvref_t<decltype(*std::get<1>(std::declval<const item&>()).begin())>>{};
  else
    return std::type_identity<std::remove_cvref_t<decltype(*std::declval<const item&>().begin())>>{};
}

}  // namespace detail

/// Returns the contents of `nested` for each of `size` ranks, as one buffer. Nested is one of:
/// - a range of containers, one for each rank in the order of ranks, such as
///   std::vector<std::vector<T>>;
/// - a range of pairs of a rank and a container, such as std::unordered_map<int, std::vector<T>>. A
///   rank that is absent gets nothing; one that occurs several times gets all of them in the order
///   of the range.
///
/// The inner containers need only begin() and end(). Local; copies each element once, O(n + size).
///
/// Throws usage_error if a range of containers does not have one for each rank, or if a rank is not
/// in 0 .. size - 1.
///
/// ```cpp
/// std::vector<std::vector<double>> rows(world.size());  // row i to rank i
/// rows[0] = {1, 2};
/// auto flat = flatten(rows, world.size());
/// auto mine = world.alltoallv(send_buf(flat.data), send_counts(flat.counts));
/// assert(mine.size() == (world.is_root() ? 2u * world.size() : 0u));
/// ```
template <class Nested>
auto flatten(const Nested& nested, int size) {
  using element = typename decltype(detail::element_inside<Nested>())::type;
  const auto p = static_cast<std::size_t>(size < 0 ? 0 : size);
  flattened<element> flat;
  flat.counts.resize(p);
  flat.displs.resize(p);
  detail::for_each_inside(nested, p, [&](std::size_t rank, const auto& inside) {
    for (auto at = inside.begin(); at != inside.end(); ++at) ++flat.counts[rank];
  });
  std::size_t n = 0;
  for (std::size_t r = 0; r < p; ++r) {
    flat.displs[r] = n;
    n += flat.counts[r];
  }
  flat.data.resize(n);
  std::vector<std::size_t> next = flat.displs;
  detail::for_each_inside(nested, p, [&](std::size_t rank, const auto& inside) {
    for (const auto& one : inside) flat.data[next[rank]++] = one;
  });
  return flat;
}

/// The same as flatten(), by KaMPIng's name.
///
/// ```cpp
/// std::vector<std::vector<int>> nested(world.size(), {world.rank()});
/// auto received = with_flattened(nested, world.size()).call([&](auto... flat) {
///   return world.alltoallv(std::move(flat)...);
/// });
/// assert(received.back() == world.size() - 1);
/// ```
template <class Nested>
auto with_flattened(const Nested& nested, int size) {
  return flatten(nested, size);
}

/// Returns one vector per count: block i is the next counts[i] elements of `buffer`. Local; copies
/// each element once. Throws usage_error if a count is negative, or if the counts do not sum to the
/// number of elements.
template <class Buffer, class Counts>
auto unflatten(const Buffer& buffer, const Counts& counts) {
  using element = detail::element_type<const Buffer>;
  const auto* next = detail::data_of(buffer);
  std::size_t left = detail::size_of(buffer);
  std::vector<detail::default_container<element>> nested;
  for (const auto& count : counts) {
    const auto n = static_cast<std::size_t>(count);
    if (count < 0 || n > left)
      detail::reject_nested("unflatten", "counts",
                            count < 0
                                ? std::to_string(count) + " is negative"
                                : std::to_string(n) + " elements of block " + std::to_string(nested.size()) +
                                      ", but " + std::to_string(left) + " are left",
                            "pass the counts with which the buffer was received");
    nested.emplace_back();
    nested.back().resize(n);
    for (std::size_t i = 0; i < n; ++i) nested.back()[i] = *next++;
    left -= n;
  }
  if (left != 0)
    detail::reject_nested("unflatten", "counts", std::to_string(left) + " elements are in no block",
                          "pass the counts with which the buffer was received");
  return nested;
}

}  // namespace tutti
TUTTI_API_END
