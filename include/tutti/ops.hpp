// SPDX-License-Identifier: Apache-2.0
//
// Reduction operators: any callable, the operators that the library knows by name, and the type
// erasure of both.
//
// The operators known by name are the standard functors (std::plus<>, std::plus<int>, ...), which
// `ops` names too. ops::max, ops::min and ops::logical_xor are further ones. All of them need
// elements of arithmetic type. They are commutative and have a neutral element (for exscan). The
// library's vectorized loops apply them to long vectors, and MPI itself may execute them.
#pragma once

#include <functional>
#include <limits>
#include <type_traits>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/callable_signature.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/element.hpp"
#include "tutti/operation.hpp"

TUTTI_API_BEGIN
namespace tutti {

namespace ops {

struct commutative_t {};
struct non_commutative_t {};
struct undeclared_t {};
/// For op(): a op b is b op a, which admits more algorithms.
inline constexpr commutative_t commutative{};
/// For op(): operands are combined in the order of ranks, and by this very function. No built-in
/// operator replaces it, even if it is known by name.
inline constexpr non_commutative_t non_commutative{};

// clang-format off
template <class T = void> using plus = std::plus<T>;
template <class T = void> using multiplies = std::multiplies<T>;
template <class T = void> using bit_and = std::bit_and<T>;
template <class T = void> using bit_or = std::bit_or<T>;
template <class T = void> using bit_xor = std::bit_xor<T>;
template <class T = void> using logical_and = std::logical_and<T>;
template <class T = void> using logical_or = std::logical_or<T>;
// clang-format on

/// The larger of two elements by `<`; the left one if they are equal.
template <class T = void>
struct max {
  /// The larger of two.
  constexpr T operator()(const T& left, const T& right) const { return left < right ? right : left; }
};
/// The same, for operands of any type.
template <>
struct max<void> {
  /// The larger of two.
  template <class T>
  constexpr T operator()(const T& left, const T& right) const {
    return left < right ? right : left;
  }
};
/// The smaller of two elements by `<`; the left one if they are equal.
template <class T = void>
struct min {
  /// The smaller of two.
  constexpr T operator()(const T& left, const T& right) const { return right < left ? right : left; }
};
/// The same, for operands of any type.
template <>
struct min<void> {
  /// The smaller of two.
  template <class T>
  constexpr T operator()(const T& left, const T& right) const {
    return right < left ? right : left;
  }
};
/// Whether exactly one of two elements is true.
template <class T = void>
struct logical_xor {
  /// Whether exactly one is true.
  constexpr bool operator()(const T& left, const T& right) const { return !left != !right; }
};
/// The same, for operands of any type.
template <>
struct logical_xor<void> {
  /// Whether exactly one is true.
  template <class T>
  constexpr bool operator()(const T& left, const T& right) const {
    return !left != !right;
  }
};

}  // namespace ops

namespace detail {

/// A callable and its declared properties. It lives in the call, or in the request of a nonblocking
/// one.
template <class Function, class Declared>
struct callable {
  using function_type = Function;
  using declared_type = Declared;
  Function function;
};

// clang-format off
template <class Function>
struct builtin_operator { static constexpr builtin_op which = builtin_op::user; using operand = void; };
template <builtin_op Which, class T>
struct is_builtin { static constexpr builtin_op which = Which; using operand = T; };
template <class T> struct builtin_operator<std::plus<T>> : is_builtin<builtin_op::sum, T> {};
template <class T> struct builtin_operator<std::multiplies<T>> : is_builtin<builtin_op::product, T> {};
template <class T> struct builtin_operator<std::bit_and<T>> : is_builtin<builtin_op::bit_and, T> {};
template <class T> struct builtin_operator<std::bit_or<T>> : is_builtin<builtin_op::bit_or, T> {};
template <class T> struct builtin_operator<std::bit_xor<T>> : is_builtin<builtin_op::bit_xor, T> {};
template <class T> struct builtin_operator<std::logical_and<T>> : is_builtin<builtin_op::logical_and, T> {};
template <class T> struct builtin_operator<std::logical_or<T>> : is_builtin<builtin_op::logical_or, T> {};
template <class T> struct builtin_operator<ops::max<T>> : is_builtin<builtin_op::max, T> {};
template <class T> struct builtin_operator<ops::min<T>> : is_builtin<builtin_op::min, T> {};
template <class T> struct builtin_operator<ops::logical_xor<T>> : is_builtin<builtin_op::logical_xor, T> {};
// clang-format on

/// The built-in operator, if Function on elements of type T is one.
template <class T, class Function>
consteval builtin_op builtin_for() {
  using operand = typename builtin_operator<Function>::operand;
  const bool same = std::is_void_v<operand> || std::is_same_v<operand, T>;
  return same && element_of<T>().kind != element_kind::opaque ? builtin_operator<Function>::which
                                                              : builtin_op::user;
}

// --- what fits elements of type T
template <class T, class Function>
inline constexpr bool combines_elements = std::is_invocable_r_v<T, Function&, const T&, const T&>;

/// Whether a result of std::bind makes a number of another type than arithmetic on T does. Its
/// parameters are not known, but it has then converted the elements: std::bind(std::plus<int>{},
/// ...) on doubles.
template <class T, class Function>
consteval bool binds_other_type() {
  if constexpr (!std::is_bind_expression_v<Function> || !std::is_arithmetic_v<T> ||
                !std::is_invocable_v<Function&, const T&, const T&>) {
    return false;
  } else {
    using made = std::remove_cvref_t<std::invoke_result_t<Function&, const T&, const T&>>;
    return std::is_arithmetic_v<made> && !std::is_same_v<made, bool> && !std::is_same_v<made, T> &&
           !std::is_same_v<made, decltype(T{} + T{})>;
  }
}

/// Whether the parameters of Function are not T, as far as they are known: it would then work on
/// converted elements.
template <class T, class Function>
consteval bool converts_elements() {
  if constexpr (is_reference_wrapper<Function>) {
    return converts_elements<T, std::remove_cv_t<typename Function::type>>();
  } else {
    using signature = decltype(signature_of<Function>());
    if constexpr (!signature::value)
      return binds_other_type<T, Function>();
    else if constexpr (signature::count < 2)
      return false;
    else  // more than two parameters, with defaults
      return !std::is_same_v<std::remove_cvref_t<typename signature::template at<0>>, T> ||
             !std::is_same_v<std::remove_cvref_t<typename signature::template at<1>>, T>;
  }
}

/// Whether a From has values that no To has. The result of arithmetic on To counts as To, for
/// example int for two shorts. bool counts as To as well, since it is 0 or 1.
template <class From, class To>
consteval bool narrows() {
  if constexpr (!std::is_arithmetic_v<From> || !std::is_arithmetic_v<To> || std::is_same_v<From, bool>) {
    return false;
  } else if constexpr (std::is_same_v<From, decltype(To{} + To{})>) {
    return false;
  } else {
    using from = std::numeric_limits<From>;
    using to = std::numeric_limits<To>;
    if (!from::is_integer && to::is_integer) return true;
    return from::digits > to::digits || from::max_exponent > to::max_exponent ||
           (to::is_integer && from::is_signed && !to::is_signed);
  }
}
template <class T, class Function>
inline constexpr bool narrows_result =
    narrows<std::remove_cvref_t<std::invoke_result_t<Function&, const T&, const T&>>, T>();

/// Whether a value of type V may be given for an element. Literals are int or double, so sign and
/// width need not agree. A fraction does not become an integer.
template <class V, class T>
inline constexpr bool becomes_element =
    std::is_convertible_v<V, T> && !(std::is_floating_point_v<V> && std::is_integral_v<T>);

template <class T, class Function>
void combine(const void* left, const void* right, void* result, std::size_t n, void* state) {
  Function& function = *static_cast<Function*>(state);
  const T* a = static_cast<const T*>(left);
  const T* b = static_cast<const T*>(right);
  T* c = static_cast<T*>(result);
  for (std::size_t i = 0; i < n; ++i) c[i] = static_cast<T>(function(a[i], b[i]));
}

template <class T, class Function, class Declared>
operation operation_for(callable<Function, Declared>& c) noexcept {
  constexpr builtin_op which =
      std::is_same_v<Declared, ops::non_commutative_t> ? builtin_op::user : builtin_for<T, Function>();
  constexpr bool commutes = std::is_same_v<Declared, ops::commutative_t> ||
                            (std::is_same_v<Declared, ops::undeclared_t> && which != builtin_op::user);
  return {&combine<T, Function>, address_of(c.function), which, commutes};
}

// Whether elements are std::complex or std::byte, which the library's loops do not support.
template <class T>
inline constexpr bool is_complex = requires(T z) {
  typename T::value_type;
  z.real(), z.imag(), z *= z;
  T(typename T::value_type(1));
};
template <class T, class Function>
consteval bool has_identity_of_class() {
  using operand = typename builtin_operator<Function>::operand;
  constexpr builtin_op which = builtin_operator<Function>::which;
  if constexpr (!std::is_void_v<operand> && !std::is_same_v<operand, T>)
    return false;
  else if constexpr (std::is_same_v<T, std::byte>)
    return which == builtin_op::bit_and || which == builtin_op::bit_or || which == builtin_op::bit_xor;
  else
    return is_complex<T> && (which == builtin_op::sum || which == builtin_op::product);
}
template <class T>
constexpr T identity_of_class(builtin_op which) noexcept {
  if constexpr (std::is_same_v<T, std::byte>)
    return which == builtin_op::bit_and ? std::byte{0xff} : std::byte{0};
  else
    return T(typename T::value_type(which == builtin_op::product ? 1 : 0));
}
template <class T>
constexpr T identity_of_number(builtin_op which) noexcept {
  using limits = std::numeric_limits<T>;
  switch (which) {
    case builtin_op::product:
    case builtin_op::logical_and:
      return static_cast<T>(1);
    case builtin_op::min:
      return limits::has_infinity ? limits::infinity() : limits::max();
    case builtin_op::max:
      return limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
    case builtin_op::bit_and:
      if constexpr (std::is_same_v<T, bool>)
        return true;
      else if constexpr (std::is_integral_v<T>)
        return static_cast<T>(~T{});
      else
        return T{};
    default:
      return T{};
  }
}

/// Whether the library knows a neutral element of Function on elements of type T.
template <class T, class Function>
inline constexpr bool has_identity = builtin_for<T, Function>() != builtin_op::user
                                     || has_identity_of_class<T, Function>();
template <class T, class Function>
constexpr T identity() noexcept {
  if constexpr (has_identity_of_class<T, Function>())
    return identity_of_class<T>(builtin_operator<Function>::which);
  else
    return identity_of_number<T>(builtin_for<T, Function>());
}

}  // namespace detail

/// A reduction operator: any associative callable that makes a T of two `const T&`. Its parameters
/// are of type T (also `const T&`), or templates such as those of std::plus<> and of lambdas with
/// auto. Its result is a T, or of a type whose values a T can all represent. Other callables do not
/// compile. An operator may have state, which is kept for this call only (a plan keeps it as long
/// as it lives). An lvalue is copied, and a move-only operator is moved in: `op(std::move(f))`. All
/// ranks pass the same operator.
///
/// A callable that is not known by name counts as non-commutative, which is safe but admits fewer
/// algorithms. `op(f, ops::commutative)` declares it commutative.
///
/// ```cpp
/// std::vector<int> v = {world.rank(), 3};
/// auto largest = world.allreduce(send_buf(v), op(ops::max<>{}));
/// assert(largest[0] == world.size() - 1);
///
/// int k = 7;
/// auto modulo = [k](int a, int b) { return (a + b) % k; };
/// auto sums = world.allreduce(send_buf(v), op(modulo, ops::commutative));
/// assert(sums[1] == 3 * world.size() % k);
/// ```
template <class Function>
constexpr auto op(Function&& function) {
  using held = detail::callable<std::decay_t<Function>, ops::undeclared_t>;
  return detail::argument<parameter::op, detail::data_direction::in, no_resize, held>{
      {static_cast<Function&&>(function)}};
}
template <class Function>
constexpr auto op(Function&& function, ops::commutative_t) {
  using held = detail::callable<std::decay_t<Function>, ops::commutative_t>;
  return detail::argument<parameter::op, detail::data_direction::in, no_resize, held>{
      {static_cast<Function&&>(function)}};
}
template <class Function>
constexpr auto op(Function&& function, ops::non_commutative_t) {
  using held = detail::callable<std::decay_t<Function>, ops::non_commutative_t>;
  return detail::argument<parameter::op, detail::data_direction::in, no_resize, held>{
      {static_cast<Function&&>(function)}};
}

}  // namespace tutti
TUTTI_API_END
