// SPDX-License-Identifier: Apache-2.0
//
// Reductions of one distributed array, with the same bits for any number of ranks and any
// distribution of the elements. tutti.hpp does not include this header.
//
// Floating-point addition is not associative, so the result of a sum depends on the order of its
// additions. These reductions use one binary tree over the elements of the whole array, whichever
// rank holds them:
//
//     element     0   1   2   3   4   5   6            n = 7
//                 └─┬─┘   └─┬─┘   └─┬─┘   │
//                   └───┬───┘       └──┬──┘
//                       └──────┬───────┘
//
// A rank combines the largest complete subtrees of its own elements. It then has at most two
// subtrees of each height. One reduction in the order of ranks, whose operator joins adjacent
// subtrees, combines them.
//
// Sources: Villa, Chavarria-Miranda, Gurumoorthi, Marquez, Krishnamoorthy 2009 (a fixed tree);
// Stelz 2022 (over global indices, as in KaMPIng). The reduction of subtrees is tutti's own.
//
// ```cpp
// #include <tutti/reproducible.hpp>
// std::vector<double> mine(world.rank() + 1, 0.1 * world.rank());  // any number per rank
// reproducible r(world, mine.size());
// double sum = r.allreduce(send_buf(mine), op(std::plus<>{}));     // again and again
// assert(sum == reproducible_allreduce(world, send_buf(mine), op(std::plus<>{})));
// ```
#pragma once

#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/combining_rules.hpp"
#include "tutti/detail/deferred_rejections.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/find_call_site.hpp"

namespace tutti::detail {
/// One rank's part of the array, and the buffers that each of its reductions needs. Defined in the
/// library, and not exported.
class array_part;
}  // namespace tutti::detail

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// The size of an element, and its operator. The functions take aligned pointers.
struct tree_operation {
  std::size_t bytes;  // of an element
  void (*combine_all)(const void* elements, std::size_t n, void* result,
                      void* state);  // n > 0: the tree over n
  combine_function combine;          // of two
  void* state;
};

array_part* make_array_part(const communicator& ranks, std::size_t count, const std::source_location& at);
void delete_array_part(array_part*) noexcept;
/// Reduces to `root` (-1: to all ranks). Throws usage_error if `count` is not the count of the
/// part.
void reduce_tree(array_part&, const char* operation, const std::source_location& at, const void* elements,
                 std::size_t count, int root, void* result, const tree_operation&);

/// Applies the operator; it is instantiated once in the program for each type. A compiler that
/// inlines two applications may fuse the multiplication of one with the addition of the other, and
/// round once. The bits would then depend on the place of the call. An operator known by name has
/// nothing to fuse.
template <class T, class Function>
struct apply {
#if defined(__clang__)
  [[gnu::noinline]]
#else
  [[gnu::noipa]]
#endif
  static T
  other(Function& f, const T& a, const T& b) {
    return static_cast<T>(f(a, b));
  }
  static T two(Function& f, const T& a, const T& b) {
    if constexpr (builtin_for<T, Function>() != builtin_op::user)
      return static_cast<T>(f(a, b));
    else
      return other(f, a, b);
  }
  // The tree over n > 0 elements: the left half is the largest power of two below n.
  static T all(Function& f, const T* v, std::size_t n) {
    if (n == 1) return v[0];
    if (n == 2) return two(f, v[0], v[1]);
    if (n == 8)
      return two(f, two(f, two(f, v[0], v[1]), two(f, v[2], v[3])),
                 two(f, two(f, v[4], v[5]), two(f, v[6], v[7])));
    std::size_t half = 2;
    while (2 * half < n) half *= 2;
    return two(f, all(f, v, half), all(f, v + half, n - half));
  }

  static void combine_all(const void* elements, std::size_t n, void* result, void* state) {
    *static_cast<T*>(result) = all(*static_cast<Function*>(state), static_cast<const T*>(elements), n);
  }
  static void combine(const void* a, const void* b, void* result, std::size_t, void* state) {
    *static_cast<T*>(result) =
        two(*static_cast<Function*>(state), *static_cast<const T*>(a), *static_cast<const T*>(b));
  }
};

}  // namespace detail

/// A distributed array, prepared for reductions that give the same bits for every distribution of
/// the same array. Its elements lie on the ranks in the order of ranks, any number on each.
///
/// The operator is any that op() takes, even one that is not associative. It is applied along the
/// tree at the head of this file, with the left operand first. It must itself give the same bits
/// for the same operands. Under -ffast-math a compiler may change even the tree. Elements are of
/// any type that calls can send, with an alignment of at most 16.
///
/// Costs of a reduction: one application of the operator per element, which is an indirect call if
/// the operator is not known by name. One reduce or allreduce of 16 bytes and 2 ceil(log2 n) + 2
/// elements follows, with an operator of tutti. n is the size of the whole array. The first
/// reduction for an element size allocates; later ones do not.
///
/// ```cpp
/// std::vector<float> mine(world.is_root() ? 1000 : 10, 0.1f);
/// reproducible array(world, mine.size());
/// assert(array.size() == 990 + 10 * static_cast<std::size_t>(world.size()));
/// std::optional<float> product = array.reduce(send_buf(mine), op(std::multiplies<>{}), root(0));
/// assert(product.has_value() == world.is_root());
/// ```
class reproducible {
 public:
  /// Collective: this rank has `count` elements. Costs an exscan and an allreduce of 8 bytes.
  reproducible(const communicator& ranks, std::size_t count,
               std::source_location at = std::source_location::current())
      : part_(detail::make_array_part(ranks, count, at)), rank_(ranks.rank()) {}
  reproducible(reproducible&& other) noexcept
      : part_(std::exchange(other.part_, nullptr)), rank_(other.rank_) {}
  reproducible& operator=(reproducible&& other) noexcept {
    std::swap(part_, other.part_);
    std::swap(rank_, other.rank_);
    return *this;
  }
  ~reproducible() { detail::delete_array_part(part_); }

  std::size_t size() const noexcept;   ///< elements of the whole array
  std::size_t begin() const noexcept;  ///< the index in it of this rank's first element

  /// Collective: combines all elements on all ranks.
  ///
  /// `allreduce(send_buf(v), op(f))`
  ///
  /// Throws usage_error if v does not hold this rank's count of elements, and on all ranks if the
  /// whole array is empty.
  template <class... Args>
  auto allreduce(Args&&... args) const {
    return run<false>("reproducible::allreduce", static_cast<Args&&>(args)...);
  }
  /// Collective: combines all elements at the root. Returns a std::optional, which is empty on
  /// other ranks.
  ///
  /// `reduce(send_buf(v), op(f), [root])`
  template <class... Args>
  auto reduce(Args&&... args) const {
    return run<true>("reproducible::reduce", static_cast<Args&&>(args)...);
  }

 private:
  template <bool Rooted, class... Args>
  auto run(const char* operation, Args&&... args) const {
    using element = detail::element_of_call<void, std::remove_cvref_t<Args>...>;
    constexpr detail::argument_error v =
        detail::error_of_combination<Rooted, element, std::remove_cvref_t<Args>...>();
    if constexpr (v.what != detail::problem::none) {
      detail::diagnostic<v.what, v.which>{};
      return detail::rejected_call_result{};
    } else {
      static_assert(alignof(element) <= 16, "send_buf: elements of an alignment above 16 are not supported");
      detail::argument_set<std::remove_cvref_t<Args>&...> arguments{{detail::without_const(args)}...};
      auto& buffer = detail::get<parameter::send_buf>(arguments).data;
      auto& function = detail::get<parameter::op>(arguments).data.function;
      using apply = detail::apply<element, std::remove_cvref_t<decltype(function)>>;
      alignas(element) unsigned char place[sizeof(element)];
      int at = Rooted ? 0 : -1;
      if constexpr ((... || (detail::parameter_of<std::remove_cvref_t<Args>> == parameter::root)))
        at = detail::get<parameter::root>(arguments).data;
      detail::reduce_tree(
          *part_, operation, detail::first_location(args...), detail::data_of(buffer),
          detail::size_of(buffer), at, place,
          {sizeof(element), &apply::combine_all, &apply::combine, detail::address_of(function)});
      const element& result = *reinterpret_cast<const element*>(place);
      if constexpr (Rooted)
        return rank_ == at ? std::optional<element>(result) : std::nullopt;
      else
        return result;
    }
  }

  detail::array_part* part_;
  int rank_;
};

namespace detail {
template <class A>
std::size_t elements_of([[maybe_unused]] A& argument) {
  if constexpr (parameter_of<std::remove_const_t<A>> == parameter::send_buf)
    return size_of(argument.data);
  else
    return 0;
}
}  // namespace detail

/// Collective: `reproducible(comm, n).allreduce(send_buf(v), op(f))`, where v has n elements, for a
/// single call.
template <class... Args>
auto reproducible_allreduce(const communicator& comm, Args&&... args) {
  const detail::enclosing_call scope(detail::impl_of(comm), "reproducible_allreduce",
                                     detail::first_location(args...));
  const reproducible array(comm, (std::size_t{0} + ... + detail::elements_of(args)));
  const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(comm)));
  return array.allreduce(static_cast<Args&&>(args)...);
}
/// Collective: `reproducible(comm, n).reduce(send_buf(v), op(f), [root])`, for a single call.
///
/// ```cpp
/// std::optional<double> sum = reproducible_reduce(world, send_buf({0.1, 0.2}), op(std::plus<>{}));
/// assert(sum.has_value() == world.is_root());
/// ```
template <class... Args>
auto reproducible_reduce(const communicator& comm, Args&&... args) {
  const detail::enclosing_call scope(detail::impl_of(comm), "reproducible_reduce",
                                     detail::first_location(args...));
  const reproducible array(comm, (std::size_t{0} + ... + detail::elements_of(args)));
  const detail::deferred_rejections steps(detail::count_of_deferrals(detail::impl_of(comm)));
  return array.reduce(static_cast<Args&&>(args)...);
}

}  // namespace tutti
TUTTI_API_END
