// SPDX-License-Identifier: Apache-2.0
//
// Reductions of one array whose elements lie on the ranks, with the same bits for any number of ranks and any
// distribution of the elements. Not included by tutti.hpp.
//
// Floating-point addition is not associative, so that what a sum comes to depends on the order in which it is
// made. Here that is one binary tree over the elements of the whole array, whoever has them:
//
//     element     0   1   2   3   4   5   6            n = 7
//                 └─┬─┘   └─┬─┘   └─┬─┘   │
//                   └───┬───┘       └──┬──┘
//                       └──────┬───────┘
//
// A rank combines the largest whole subtrees of its own elements. What it then has, at most two subtrees of
// each height, goes through one reduction in the order of ranks whose operator joins subtrees that meet.
//
// Sources: Villa, Chavarria-Miranda, Gurumoorthi, Marquez, Krishnamoorthy 2009 (a fixed tree); Stelz 2022
// (over global indices, as KaMPIng has it); the reduction of subtrees is tutti's own.
//
// ```cpp
// #include <tutti/reproducible.hpp>
// std::vector<double> mine(world.rank() + 1, 0.1 * world.rank());  // ranks have as many as they like
// reproducible r(world, mine.size());
// double sum = r.allreduce(send_buf(mine), op(std::plus<>{}));     // again and again
// assert(sum == reproducible_allreduce(world, send_buf(mine), op(std::plus<>{})));
// ```
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "tutti/communicator.hpp"
#include "tutti/face/combining.hpp"

namespace tutti {
namespace detail {

/// What the library needs to know of an element and its operator. All of it works on aligned places.
struct tree_operation {
  std::size_t bytes;  // of an element
  void (*combine_all)(const void* elements, std::size_t n, void* result,
                      void* state);  // n > 0: the tree over n
  combine_function combine;          // of two
  void* state;
};

/// One rank's part of the array, and what each of its reductions needs.
class array_part;
array_part* make_array_part(const communicator& ranks, std::size_t count);
void delete_array_part(array_part*) noexcept;
/// At `root` (-1: everywhere). Throws usage_error where `count` is not that of the plan.
void reduce_tree(array_part&, const char* operation, const void* elements, std::size_t count, int root,
                 void* result, const tree_operation&);

/// The operator, once in the program for each type. A compiler that sees two applications at once may join
/// the multiplication of one with the addition of the other, and round once: then the bits depend on where it
/// stands. An operator known by name has nothing to join.
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

/// An array whose elements lie on the ranks in the order of ranks, any number on each, prepared for
/// reductions that give the same bits for every distribution of the same array.
///
/// The operator is any that op() takes, also one that is not associative: it is applied as the tree at the
/// head of this file says, left operand first. It must itself give the same bits for the same operands; and
/// under -ffast-math a compiler need not even keep the tree. Elements are of any type that travels, alignment
/// up to 16.
///
/// Costs of a reduction: one application of the operator for each element, an indirect call each where the
/// operator is not known by name; then one reduce or allreduce of 16 bytes and 2 ceil(log2 n) + 2 elements, n
/// those of the whole array, with an operator of tutti's own. It allocates the first time for an element
/// size, and later not.
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
  reproducible(const communicator& ranks, std::size_t count)
      : part_(detail::make_array_part(ranks, count)), rank_(ranks.rank()) {}
  reproducible(reproducible&& other) noexcept
      : part_(std::exchange(other.part_, nullptr)), rank_(other.rank_) {}
  reproducible& operator=(reproducible&& other) noexcept {
    std::swap(part_, other.part_);
    std::swap(rank_, other.rank_);
    return *this;
  }
  ~reproducible() { detail::delete_array_part(part_); }

  std::size_t size() const noexcept;   ///< elements of the whole array
  std::size_t begin() const noexcept;  ///< at which of them this rank's begin

  /// Collective: all elements combined, on all ranks.
  ///
  /// `allreduce(send_buf(v), op(f))`
  ///
  /// Throws usage_error where v does not hold this rank's count of elements, and on all ranks where the whole
  /// array has none.
  template <class... Args>
  auto allreduce(Args&&... args) const {
    return run<false>("reproducible::allreduce", static_cast<Args&&>(args)...);
  }
  /// Collective: the same at the root: a std::optional, empty elsewhere.
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
    constexpr detail::verdict v = detail::judged_combination<Rooted, element, std::remove_cvref_t<Args>...>();
    if constexpr (v.what != detail::problem::none) {
      detail::complaint<v.what, v.which>{};
      return detail::mistaken{};
    } else {
      static_assert(alignof(element) <= 16, "send_buf: elements of an alignment above 16 are not supported");
      detail::bag<std::remove_cvref_t<Args>&...> bag{{detail::without_const(args)}...};
      auto& buffer = detail::get<parameter::send_buf>(bag).data;
      auto& function = detail::get<parameter::op>(bag).data.function;
      using apply = detail::apply<element, std::remove_cvref_t<decltype(function)>>;
      alignas(element) unsigned char place[sizeof(element)];
      int at = Rooted ? 0 : -1;
      if constexpr ((... || (detail::parameter_of<std::remove_cvref_t<Args>> == parameter::root)))
        at = detail::get<parameter::root>(bag).data;
      detail::reduce_tree(
          *part_, operation, detail::data_of(buffer), detail::size_of(buffer), at, place,
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

/// Collective: `reproducible(comm, n).allreduce(send_buf(v), op(f))` where v has n elements, once.
template <class... Args>
auto reproducible_allreduce(const communicator& comm, Args&&... args) {
  return reproducible(comm, (std::size_t{0} + ... + detail::elements_of(args)))
      .allreduce(static_cast<Args&&>(args)...);
}
/// Collective: `reproducible(comm, n).reduce(send_buf(v), op(f), [root])`, once.
///
/// ```cpp
/// std::optional<double> sum = reproducible_reduce(world, send_buf({0.1, 0.2}), op(std::plus<>{}));
/// assert(sum.has_value() == world.is_root());
/// ```
template <class... Args>
auto reproducible_reduce(const communicator& comm, Args&&... args) {
  return reproducible(comm, (std::size_t{0} + ... + detail::elements_of(args)))
      .reduce(static_cast<Args&&>(args)...);
}

}  // namespace tutti
