// SPDX-License-Identifier: Apache-2.0
//
// The arguments of insert() besides the kernel: how a task uses its data, which rank runs it, what
// it waits for. It also has the typed call of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tutti/detail/callable_signature.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/task_handle_access.hpp"
#include "tutti/detail/tasks_abi.hpp"
#include "tutti/ops.hpp"

TUTTI_API_BEGIN
namespace tutti::tasks {

namespace typed {

template <class T>
struct data_traits {
  using element = T;
  static constexpr bool is_span = false;
};
template <class E>
struct data_traits<std::span<E>> {
  using element = E;
  static constexpr bool is_span = true;
};
template <class T>
using element_type_of = typename data_traits<T>::element;

/// The kernel's parameter for data of this type.
template <class T, bool Const>
struct kernel_parameter {
  using type = std::conditional_t<Const, const T&, T&>;
  static type of(const kernel_buffer& p) noexcept { return *static_cast<T*>(p.data); }
};
template <class E, bool Const>
struct kernel_parameter<std::span<E>, Const> {
  using type = std::span<std::conditional_t<Const, const E, E>>;
  static type of(const kernel_buffer& p) noexcept { return type(static_cast<E*>(p.data), p.count); }
};

/// One use of data, with its type.
template <class T, use_mode How>
struct typed_use {
  static constexpr use_mode how = How;
  static constexpr bool writes = How != use_mode::read;
  using parameter = kernel_parameter<T, !writes>;
  data_handle* what;
  const reducer* by = nullptr;
};

/// A contribution to a reduction, and its initial value as the caller gives it.
template <class T>
struct reducing_use : typed_use<T, use_mode::reduce> {
  element_type_of<T> neutral;
};
/// The result of neutral(v).
template <class V>
struct neutral_value {
  V value;
};

struct on_rank {
  int rank;
};
struct on_owner {
  data_handle* what;
};
struct after_tag {
  std::uint64_t tag;
};
struct task_name {
  const char* name;
};

template <class A>
inline constexpr bool is_use = false;
template <class T, use_mode How>
inline constexpr bool is_use<typed_use<T, How>> = true;
template <class T>
inline constexpr bool is_use<reducing_use<T>> = true;

// Fills a contribution to a reduction with its initial value.
template <class E>
void fill_with(const E& value, void* into, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) new (static_cast<E*>(into) + i) E(value);
}
template <class E, class Op>
void make_neutral(void* into, std::size_t n) {
  fill_with<E>(tutti::detail::identity<E, Op>(), into, n);
}
template <class E, class Op>
void combine_by(const void* left, const void* right, void* result, std::size_t n, void*) {
  Op op{};
  tutti::detail::combine<E, Op>(left, right, result, n, &op);
}
template <class E, class Op>
inline constexpr reducer reducer_of{combine_by<E, Op>, make_neutral<E, Op>};
template <class E, class Op>
inline constexpr reducer reducer_with_neutral{combine_by<E, Op>, nullptr};

/// Emits one compile error for a wrong operator of a reduction.
template <class E, class Op>
constexpr bool validate_reduction_op() {
  constexpr bool stateless = std::is_empty_v<Op> && std::is_default_constructible_v<Op>;
  static_assert(stateless, "tutti: insert: reduce: op has a state: pass a callable that captures nothing");
  if constexpr (stateless) {
    constexpr bool combines = tutti::detail::combines_elements<E, Op>;
    static_assert(combines, "tutti: insert: reduce: op cannot be called with two elements and return one");
    if constexpr (combines) {
      constexpr bool converts = tutti::detail::converts_elements<E, Op>();
      static_assert(!converts,
                    "tutti: insert: reduce: the parameters of op are not of the element type: elements would "
                    "be converted");
      constexpr bool narrows = tutti::detail::narrows_result<E, Op>;
      static_assert(converts || !narrows,
                    "tutti: insert: reduce: the result of op does not fit into an element: return the "
                    "element type");
      return !converts && !narrows;
    }
  }
  return false;
}
template <class E, class Op>
constexpr bool validate_reduction() {
  if constexpr (validate_reduction_op<E, Op>()) {
    constexpr bool is_known = tutti::detail::has_identity<E, Op>;
    static_assert(
        is_known,
        "tutti: insert: reduce: op has no known neutral element: pass it, reduce(h, op, neutral(v))");
    return is_known;
  }
  return false;
}
template <class E, class Op, class V>
constexpr bool validate_reduction_with() {
  if constexpr (validate_reduction_op<E, Op>()) {
    constexpr bool fits = tutti::detail::becomes_element<V, E>;
    static_assert(fits, "tutti: insert: reduce: neutral(v): v is not convertible to an element: pass one");
    return fits;
  }
  return false;
}

/// Whether the kernel has a by-value parameter for data that it writes: the kernel's writes to it
/// would be lost.
template <class Parameter, class Use>
inline constexpr bool loses_writes = Use::writes && !std::is_lvalue_reference_v<Parameter> &&
                                     std::is_lvalue_reference_v<typename Use::parameter::type>;
/// Whether the kernel has a `const T&` parameter for data that it writes.
template <class Parameter, class Use>
inline constexpr bool takes_const =
    Use::writes&& std::is_lvalue_reference_v<Parameter>&& std::is_const_v<std::remove_reference_t<Parameter>>;
/// Whether the kernel has a parameter that does not accept const data, for data that it reads.
template <class Parameter, class Use>
inline constexpr bool needs_write_access =
    !Use::writes && !std::is_convertible_v<typename Use::parameter::type, Parameter>;

/// Whether the parameters of the kernel can be compared with the data of the call. The kernel must
/// have exactly one signature, and that must not end with `...`.
template <class Signature>
consteval bool has_fixed_parameters() {
  if constexpr (Signature::value)
    return !Signature::is_variadic;
  else
    return false;
}

template <class Kernel, class... Uses, std::size_t... I>
constexpr bool validate_parameters(std::index_sequence<I...>) {
  using signature = decltype(tutti::detail::signature_of<Kernel>());
  if constexpr (has_fixed_parameters<signature>()) {
    constexpr bool counted = signature::count == sizeof...(Uses);
    static_assert(counted,
                  "tutti: insert: the kernel must have as many parameters as there are data in the call");
    if constexpr (counted) {
      constexpr bool lost = (loses_writes<typename signature::template at<I>, Uses> || ...);
      static_assert(!lost,
                    "tutti: insert: a parameter of the kernel is a copy of a write argument: make it a T&");
      constexpr bool constant = (takes_const<typename signature::template at<I>, Uses> || ...);
      static_assert(!constant,
                    "tutti: insert: a parameter of the kernel is const T&, but its argument is write: pass "
                    "read(h), or make it a T&");
      constexpr bool written = (needs_write_access<typename signature::template at<I>, Uses> || ...);
      static_assert(!written,
                    "tutti: insert: a parameter of the kernel does not accept what read(h) passes, a const "
                    "T& or a span of const: pass read_write(h), or make it const");
      return !lost && !constant && !written;
    }
    return counted;
  } else {
    return true;
  }
}

/// A list of types of uses of data.
template <class... Uses>
struct use_list {
  static constexpr std::size_t count = sizeof...(Uses);
};
template <class List, class... Arguments>
struct select_uses {
  using type = List;
};
template <class... Uses, class First, class... Rest>
struct select_uses<use_list<Uses...>, First, Rest...> {
  using more = std::conditional_t<is_use<First>, use_list<Uses..., First>, use_list<Uses...>>;
  using type = typename select_uses<more, Rest...>::type;
};
/// The uses of data among the arguments of insert(), in their order.
template <class... Arguments>
using uses_among = typename select_uses<use_list<>, Arguments...>::type;

template <class A>
inline constexpr bool is_argument = is_use<A> || std::is_same_v<A, on_rank> || std::is_same_v<A, on_owner> ||
                                    std::is_same_v<A, after_tag> || std::is_same_v<A, task_name>;
template <class... Arguments>
constexpr bool validate_arguments() {
  constexpr bool is_known = (is_argument<Arguments> && ...);
  static_assert(is_known,
                "tutti: insert: an argument after the kernel has no access mode: pass read(h), write(h), "
                "read_write(h), reduce(h, op), on(rank), on_owner_of(h), after(tag) or name(text)");
  return is_known;
}

template <class Kernel, class... Uses>
constexpr bool validate_kernel(use_list<Uses...>) {
  if constexpr (validate_parameters<Kernel, Uses...>(std::index_sequence_for<Uses...>())) {
    constexpr bool fits = std::is_invocable_v<Kernel&, typename Uses::parameter::type...>;
    static_assert(fits,
                  "tutti: insert: the kernel cannot be called with its data: a T for handle<T>, a span for a "
                  "handle of spans, const if they are read");
    return fits;
  } else {
    return false;
  }
}

/// The initial contents that one use needs before the kernel runs.
struct no_initial_contents {};
template <class Use>
struct initial_contents {
  using type = no_initial_contents;
};
template <class T>
struct initial_contents<reducing_use<T>> {
  using type = element_type_of<T>;
};
template <class A>
auto neutral_values_of(const A& argument) {
  if constexpr (!is_use<A>)
    return std::tuple<>();
  else if constexpr (std::is_same_v<typename initial_contents<A>::type, no_initial_contents>)
    return std::tuple<no_initial_contents>();
  else
    return std::tuple<typename initial_contents<A>::type>(argument.neutral);
}

/// A kernel in the form that the library runs.
template <class Kernel, class... Uses>
struct typed_kernel {
  static constexpr bool has_initial_contents =
      (!std::is_same_v<typename initial_contents<Uses>::type, no_initial_contents> || ...);
  struct with_neutrals {
    Kernel kernel;
    std::tuple<typename initial_contents<Uses>::type...> neutral;
  };
  using closure_type = std::conditional_t<has_initial_contents, with_neutrals, Kernel>;

  template <class K, class... Arguments>
  static void make(void* closure, K&& kernel, const Arguments&... arguments) {
    if constexpr (has_initial_contents)
      new (closure) with_neutrals{std::forward<K>(kernel), std::tuple_cat(neutral_values_of(arguments)...)};
    else
      new (closure) Kernel(std::forward<K>(kernel));
  }
  static void run(void* closure, const kernel_buffer* buffers) {
    call(*static_cast<closure_type*>(closure), buffers, std::index_sequence_for<Uses...>());
  }
  static void destroy(void* closure) noexcept { static_cast<closure_type*>(closure)->~closure_type(); }
  static constexpr kernel_operations value{
      run, std::is_trivially_destructible_v<closure_type> ? nullptr : destroy, sizeof(closure_type),
      alignof(closure_type)};

 private:
  template <std::size_t... I>
  static void call(closure_type& closure, [[maybe_unused]] const kernel_buffer* buffers,
                   std::index_sequence<I...>) {
    if constexpr (has_initial_contents) {
      (fill(std::get<I>(closure.neutral), buffers[I]), ...);
      closure.kernel(Uses::parameter::of(buffers[I])...);
    } else {
      closure(Uses::parameter::of(buffers[I])...);
    }
  }
  static void fill(no_initial_contents, const kernel_buffer&) noexcept {}
  template <class E>
  static void fill(const E& value, const kernel_buffer& p) {
    fill_with<E>(value, p.data, p.count);
  }
};
template <class Kernel, class List> struct make_typed_kernel;
template <class Kernel, class... Uses>
struct make_typed_kernel<Kernel, use_list<Uses...>> {
  using type = typed_kernel<Kernel, Uses...>;
};
template <class Kernel, class List>
using typed_kernel_for = typename make_typed_kernel<Kernel, List>::type;

}  // namespace typed

/// The kernel reads the data through `const T&`, or a span of const elements.
template <class T>
auto read(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::read>{handle_access::data_of(h)};
}
/// The kernel overwrites all of the data through a `T&`, or a span, whose contents are undefined at
/// first.
template <class T>
auto write(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::write>{handle_access::data_of(h)};
}
/// The kernel reads and writes the data through a `T&`, or a span.
template <class T>
auto read_write(const handle<T>& h) noexcept {
  return typed::typed_use<T, use_mode::read_write>{handle_access::data_of(h)};
}
/// The neutral element of `op`: op(v, x) and op(x, v) are x for every x. For reduce(h, op,
/// neutral(v)).
template <class V>
constexpr auto neutral(const V& value) {
  return typed::neutral_value<V>{value};
}
/// The kernel contributes to a reduction through a `T&`, or a span, which initially holds the
/// neutral element of `op`. The library knows it for the functors of ops.hpp (std::plus<> and the
/// others) on numbers. It also knows it for std::plus<> and std::multiplies<> on std::complex, and
/// for the bitwise ones on std::byte. Any other callable needs neutral(v), or the call does not
/// compile.
///
/// The contribution is combined with the contents of the data and with the contributions of other
/// tasks, in any order. Such tasks run concurrently, on any ranks. A tree of ranks combines their
/// contributions and brings them to the owner. This happens before the next task that reads or
/// writes the data, or reduces into it by another operator. `op` is an associative and commutative
/// callable without state that combines two elements into one.
///
/// ```cpp
/// #include <tutti/tasks.hpp>
/// tasks::runtime rt(world);
/// int product = 5;
/// auto h = world.is_root() ? rt.data(product, 0) : rt.data<int>(0);
/// auto times = [](int a, int b) { return a * b; };
/// for (int r = 0; r < world.size(); ++r)
///   rt.insert([](int& x) { x *= 3; }, tasks::on(r), tasks::reduce(h, times, tasks::neutral(1)));
/// rt.wait_all();
/// assert(!world.is_root() || product % 15 == 0);
/// ```
template <class T, class Op>
auto reduce(const handle<T>& h, Op) noexcept {
  using element = typed::element_type_of<T>;
  using use_type = typed::typed_use<T, use_mode::reduce>;
  if constexpr (typed::validate_reduction<element, Op>())
    return use_type{handle_access::data_of(h), &typed::reducer_of<element, Op>};
  else
    return use_type{handle_access::data_of(h)};
}
template <class T, class Op, class V>
auto reduce(const handle<T>& h, Op, const typed::neutral_value<V>& v) noexcept {
  using element = typed::element_type_of<T>;
  using use_type = typed::reducing_use<T>;
  if constexpr (typed::validate_reduction_with<element, Op, V>())
    return use_type{{handle_access::data_of(h), &typed::reducer_with_neutral<element, Op>},
                    static_cast<element>(v.value)};
  else
    return typed::typed_use<T, use_mode::reduce>{handle_access::data_of(h)};
}

/// This rank runs the task; the owners receive what it writes.
inline typed::on_rank on(int rank) noexcept { return {rank}; }
/// The owner of `h` runs the task.
template <class T>
typed::on_owner on_owner_of(const handle<T>& h) noexcept {
  return {handle_access::data_of(h)};
}
/// The task waits until this tag is unlocked (unlock()).
inline typed::after_tag after(std::uint64_t tag) noexcept { return {tag}; }
/// The name of the task in reports and traces: a literal, or text that lives as long as the
/// runtime.
inline typed::task_name name(const char* text) noexcept { return {text}; }

}  // namespace tutti::tasks
TUTTI_API_END
