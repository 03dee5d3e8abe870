// SPDX-License-Identifier: Apache-2.0
//
// What insert() takes beside the kernel: how a task uses its data, who runs it, what it waits for. And how a
// kernel of any type is called with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tutti/core/tasks.hpp"
#include "tutti/ops.hpp"

namespace tutti::tasks {

template <class T>
class handle;

namespace typed {

template <class T>
struct held {
  using element = T;
  static constexpr bool is_span = false;
};
template <class E>
struct held<std::span<E>> {
  using element = E;
  static constexpr bool is_span = true;
};
template <class T>
using element_of_held = typename held<T>::element;

/// What a kernel is given of a datum of this type.
template <class T, bool Const>
struct given {
  using type = std::conditional_t<Const, const T&, T&>;
  static type of(const place& p) noexcept { return *static_cast<T*>(p.data); }
};
template <class E, bool Const>
struct given<std::span<E>, Const> {
  using type = std::span<std::conditional_t<Const, const E, E>>;
  static type of(const place& p) noexcept { return type(static_cast<E*>(p.data), p.count); }
};

/// One use of a datum, with its type.
template <class T, use_mode How>
struct typed_use {
  static constexpr use_mode how = How;
  static constexpr bool writes = How != use_mode::read;
  using given_type = given<T, !writes>;
  datum* what;
  const reducer* by = nullptr;
};

struct on_rank {
  int rank;
};
struct on_owner {
  datum* what;
};
struct after_tag {
  std::uint64_t tag;
};
struct called {
  const char* name;
};

template <class A>
inline constexpr bool is_use = false;
template <class T, use_mode How>
inline constexpr bool is_use<typed_use<T, How>> = true;

// What a contribution to a reduction begins as: what the operator leaves alone, where that is known.
template <class E, class Op>
void make_neutral(void* into, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (tutti::detail::has_identity<E, Op>)
      new (static_cast<E*>(into) + i) E(tutti::detail::identity<E, Op>());
    else
      new (static_cast<E*>(into) + i) E();
  }
}
template <class E, class Op>
void combine_by(const void* left, const void* right, void* result, std::size_t n, void*) {
  Op op{};
  tutti::detail::combine<E, Op>(left, right, result, n, &op);
}
template <class E, class Op>
inline constexpr reducer reducer_of{combine_by<E, Op>, make_neutral<E, Op>};

// The parameters of a kernel, where it has one signature.
template <class F>
struct parameters_of : std::false_type {};
template <class R, class... P>
struct parameters_of<R (*)(P...)> : std::true_type {
  template <std::size_t I>
  using at = typename std::tuple_element<I, std::tuple<P...>>::type;
  static constexpr std::size_t count = sizeof...(P);
};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...)> : parameters_of<R (*)(P...)> {};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...) const> : parameters_of<R (*)(P...)> {};
template <class R, class... P>
struct parameters_of<R (*)(P...) noexcept> : parameters_of<R (*)(P...)> {};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...) noexcept> : parameters_of<R (*)(P...)> {};
template <class R, class C, class... P>
struct parameters_of<R (C::*)(P...) const noexcept> : parameters_of<R (*)(P...)> {};

template <class K>
constexpr auto signature_of() {
  if constexpr (requires { &K::operator(); })
    return parameters_of<decltype(&K::operator())>{};
  else
    return parameters_of<std::decay_t<K>>{};
}

/// A parameter that would take a copy of what the task should write.
template <class Parameter, class Use>
inline constexpr bool loses_writes = Use::writes && !std::is_lvalue_reference_v<Parameter> &&
                                     std::is_lvalue_reference_v<typename Use::given_type::type>;
template <class Parameter, class Use>
inline constexpr bool takes_const =
    Use::writes&& std::is_lvalue_reference_v<Parameter>&& std::is_const_v<std::remove_reference_t<Parameter>>;
template <class Parameter, class Use>
inline constexpr bool wants_to_write =
    !Use::writes && !std::is_convertible_v<typename Use::given_type::type, Parameter>;

template <class Kernel, class... Uses, std::size_t... I>
constexpr bool check_parameters(std::index_sequence<I...>) {
  using signature = decltype(signature_of<Kernel>());
  if constexpr (signature::value) {
    constexpr bool counted = signature::count == sizeof...(Uses);
    static_assert(counted, "tutti: insert: the kernel has as many parameters as there are data in the call");
    if constexpr (counted) {
      constexpr bool lost = (loses_writes<typename signature::template at<I>, Uses> || ...);
      static_assert(
          !lost,
          "tutti: insert: a parameter of the kernel is a copy of what is given as write: make it a T&");
      constexpr bool constant = (takes_const<typename signature::template at<I>, Uses> || ...);
      static_assert(!constant,
                    "tutti: insert: a parameter of the kernel is const T&, its argument write: give read(h), "
                    "or make it a T&");
      constexpr bool written = (wants_to_write<typename signature::template at<I>, Uses> || ...);
      static_assert(!written,
                    "tutti: insert: a parameter of the kernel does not take what read(h) gives, a const T& "
                    "or a span of const: give read_write(h), or make it const");
      return !lost && !constant && !written;
    }
    return counted;
  } else {
    return true;
  }
}

/// The data among the arguments of insert(), in their order.
template <class... Uses>
struct use_list {
  static constexpr std::size_t count = sizeof...(Uses);
};
template <class List, class... Arguments>
struct sorted {
  using type = List;
};
template <class... Uses, class First, class... Rest>
struct sorted<use_list<Uses...>, First, Rest...> {
  using more = std::conditional_t<is_use<First>, use_list<Uses..., First>, use_list<Uses...>>;
  using type = typename sorted<more, Rest...>::type;
};
template <class... Arguments>
using uses_among = typename sorted<use_list<>, Arguments...>::type;

template <class A>
inline constexpr bool is_argument = is_use<A> || std::is_same_v<A, on_rank> || std::is_same_v<A, on_owner> ||
                                    std::is_same_v<A, after_tag> || std::is_same_v<A, called>;
template <class... Arguments>
constexpr bool check_arguments() {
  constexpr bool known = (is_argument<Arguments> && ...);
  static_assert(known,
                "tutti: insert: an argument behind the kernel says no use: give read(h), write(h), "
                "read_write(h), reduce(h, op), on(rank), on_owner_of(h), after(tag) or name(text)");
  return known;
}

template <class Kernel, class... Uses>
constexpr bool check_kernel(use_list<Uses...>) {
  if constexpr (check_parameters<Kernel, Uses...>(std::index_sequence_for<Uses...>())) {
    constexpr bool fits = std::is_invocable_v<Kernel&, typename Uses::given_type::type...>;
    static_assert(fits,
                  "tutti: insert: the kernel cannot be called with what its data are: a T for handle<T>, a "
                  "span for one of spans, const where they are read");
    return fits;
  } else {
    return false;
  }
}

/// A kernel as the library runs it.
template <class Kernel, class... Uses>
struct kernel_code {
  static void run(void* closure, const place* places) {
    call(closure, places, std::index_sequence_for<Uses...>());
  }
  static void end(void* closure) noexcept { static_cast<Kernel*>(closure)->~Kernel(); }
  static constexpr code value{run, std::is_trivially_destructible_v<Kernel> ? nullptr : end, sizeof(Kernel),
                              alignof(Kernel)};

 private:
  template <std::size_t... I>
  static void call(void* closure, [[maybe_unused]] const place* places, std::index_sequence<I...>) {
    (*static_cast<Kernel*>(closure))(Uses::given_type::of(places[I])...);
  }
};
template <class Kernel, class... Uses>
constexpr const code& code_of(use_list<Uses...>) noexcept {
  return kernel_code<Kernel, Uses...>::value;
}

}  // namespace typed

/// The kernel is given what stands there as const: `const T&`, or a span of const elements.
template <class T>
auto read(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::read>{h.native()};
}
/// A `T&`, or a span, whose contents are undefined before: all of it is written.
template <class T>
auto write(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::write>{h.native()};
}
/// A `T&`, or a span.
template <class T>
auto read_write(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::read_write>{h.native()};
}
/// A `T&`, or a span, for a contribution of this task: it begins as what the operator leaves alone (0 for
/// plus, 1 for multiplies ...; a value-initialised T for other callables), and is combined with what stands
/// in the datum and with the contributions of other tasks, in any order. Such tasks run side by side, on any
/// ranks; what they have contributed goes to the owner by a tree before the next other use. `op` is a
/// callable without state, associative and commutative.
template <class T, class Op>
auto reduce(const handle<T>& h, Op) noexcept {
  using element = typed::element_of_held<T>;
  constexpr bool stateless = std::is_empty_v<Op> && std::is_default_constructible_v<Op>;
  static_assert(stateless, "tutti: insert: reduce: op has a state: give a callable that captures nothing");
  return typed::typed_use<T, use_mode::reduce>{h.native(), &typed::reducer_of<element, Op>};
}

/// This rank runs the task; what it writes goes home to the owners.
inline typed::on_rank on(int rank) noexcept { return {rank}; }
/// The owner of `h` does.
template <class T>
typed::on_owner on_owner_of(const handle<T>& h) noexcept {
  return {h.native()};
}
/// Not before this tag is unlocked (unlock()).
inline typed::after_tag after(std::uint64_t tag) noexcept { return {tag}; }
/// What reports and traces call the task: a literal, or text that stays as long as the runtime.
inline typed::called name(const char* text) noexcept { return {text}; }

}  // namespace tutti::tasks
