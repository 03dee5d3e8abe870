// SPDX-License-Identifier: Apache-2.0
//
// The data of a named parameter: a reference to the caller's container, or the container itself.
// This file also has the library's access to containers.
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <source_location>
#include <span>  // and, with it, the range concepts: all of <ranges> would double the cost of tutti
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/parameter_table.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// How a receiving container may be resized if its size differs from what is received. A container
/// that is too small throws usage_error under no_resize. The other two policies need resize(n),
/// else the call does not compile.
enum class resize_policy : std::uint8_t {
  no_resize,     ///< must be large enough; default for passed containers
  grow_only,     ///< resized when too small, never made smaller
  resize_to_fit  ///< resized to what is received; default for made ones
};
inline constexpr resize_policy no_resize = resize_policy::no_resize;
inline constexpr resize_policy grow_only = resize_policy::grow_only;
inline constexpr resize_policy resize_to_fit = resize_policy::resize_to_fit;

namespace detail {
template <class C>
struct allocate {};
}  // namespace detail

/// Requests a new container of type C: `recv_buf(alloc_new<C>)`, the same as `recv_buf<C>()`.
template <class C>
inline constexpr detail::allocate<C> alloc_new{};
/// The same for a std::vector of T: `recv_buf(alloc_container_of<int>)`.
template <class T>
inline constexpr detail::allocate<std::vector<T>> alloc_container_of{};

/// A contiguous container that owns its elements and, unlike std::vector, can hold bools. Calls
/// return it by default if the elements are bool, and keep `send_buf({a, b})` in it.
template <class T>
class dynamic_array {
 public:
  using value_type = T;  ///< the element type

  /// Constructs an empty array, one of n value-initialized elements, or one of these values. Copies
  /// and moves behave like those of std::vector.
  dynamic_array() = default;
  explicit dynamic_array(std::size_t n) : data_(n == 0 ? nullptr : new T[n]()), size_(n) {}
  ~dynamic_array() { delete[] data_; }
  template <class U>
  dynamic_array(std::initializer_list<U> values) : dynamic_array(values.size()) {
    T* to = data();
    for (const U& value : values) *to++ = value;
  }
  dynamic_array(const dynamic_array& other) : dynamic_array(other.size_) {
    // After the delegated constructor has returned, the destructor runs if an exception is thrown.
    for (std::size_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  dynamic_array(dynamic_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  dynamic_array& operator=(dynamic_array other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// The same as for std::vector.
  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T* begin() noexcept { return data(); }
  T* end() noexcept { return data() + size_; }
  const T* begin() const noexcept { return data(); }
  const T* end() const noexcept { return data() + size_; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  /// Keeps the elements that fit; new ones are value-initialized. Linear in n.
  void resize(std::size_t n) {
    if (n == size_) return;
    dynamic_array other(n);
    for (std::size_t i = 0; i < n && i < size_; ++i) other.data_[i] = std::move(data_[i]);
    *this = std::move(other);
  }
  /// Whether both have the same elements.
  friend bool operator==(const dynamic_array& a, const dynamic_array& b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

namespace detail {

/// in: the call reads the data. out: the call makes it. in_out: both.
enum class data_direction : std::uint8_t { in, out, in_out };

/// Which arguments record their source location: those that most calls have. They are few, since
/// each enlarges the state of a nonblocking call.
constexpr bool is_buffer(parameter name) {
  using enum parameter;
  return name == send_buf || name == recv_buf || name == send_recv_buf;
}
constexpr bool records_location(parameter name) {
  using enum parameter;
  return is_buffer(name) || name == root || name == source || name == destination || name == tag ||
         name == algorithm || name == composition || name == statuses;
}
template <parameter Name>
struct no_location {};

/// A named argument. Data is `C&` if it refers to the caller's lvalue, and `C` if the argument owns
/// it.
template <parameter Name, data_direction Direction, resize_policy Policy, class Data>
struct argument {
  static constexpr parameter name = Name;
  static constexpr data_direction direction = Direction;
  static constexpr resize_policy policy = Policy;
  static constexpr bool owning = !std::is_reference_v<Data>;
  using data_type = Data;
  Data data;
  /// The source location in the program.
  [[no_unique_address]] std::conditional_t<records_location(Name), std::source_location, no_location<Name>>
      at{};
};

template <class A>
concept has_location = requires(const A& a) {
  a.at.line();
};

/// The data of an out buffer whose type follows from the send buffer.
struct automatic {};

/// The data of an argument whose factory was called with invalid arguments
/// (rejected_factories.hpp).
struct misuse {};

/// Converts from every type that no other overload accepts, for deleted constructors: the error is
/// then one short message.
struct anything_else {
  template <class T>
  anything_else(const T&);
};

/// Data that is an object to serialize or to deserialize (tutti/serialization.hpp).
template <class A>
concept holds_object = requires {
  typename std::remove_cvref_t<typename A::data_type>::object_format;
};

/// A container of bytes that represents an object. The call returns the object, or nothing if it is
/// void.
template <class C>
concept is_object_buffer = requires {
  typename C::unpacked_object;
};

template <class A>
inline constexpr parameter parameter_of = parameter::unnamed;
template <parameter N, data_direction F, resize_policy P, class D>
inline constexpr parameter parameter_of<argument<N, F, P, D>> = N;

template <class A>
inline constexpr data_direction direction_of = data_direction::in;
template <parameter N, data_direction F, resize_policy P, class D>
inline constexpr data_direction direction_of<argument<N, F, P, D>> = F;

/// A container that is never resized.
template <class A>
inline constexpr bool is_fixed = false;
template <parameter N, data_direction F, resize_policy P, class D>
inline constexpr bool is_fixed<argument<N, F, P, D>> =
    P == resize_policy::no_resize && !std::is_same_v<std::remove_cvref_t<D>, automatic>;

// --- containers
enum class argument_shape : std::uint8_t {
  single,      // one value: one element
  contiguous,  // data() and size(), a C array, or a sized contiguous range, also a view
  scattered    // any other range, including std::vector<bool>
};

template <class C>
concept has_data_and_size = requires(C& c) {
  *c.data(), c.size();
  typename std::remove_cv_t<C>::value_type;
};

template <class C>
consteval argument_shape argument_shape_of() {
  using bare = std::remove_reference_t<C>;
  if constexpr (std::is_bounded_array_v<bare> || has_data_and_size<bare>)
    return argument_shape::contiguous;
  else if constexpr (std::ranges::contiguous_range<bare&> && std::ranges::sized_range<bare&>)
    return argument_shape::contiguous;
  else if constexpr (std::ranges::range<bare&>)
    return argument_shape::scattered;
  else if constexpr (requires(bare & c) {
                       c.size();
                       c.begin();
                       typename bare::value_type;
                     })
    return argument_shape::scattered;
  else
    return argument_shape::single;
}

template <class W>
inline constexpr bool is_reference_wrapper = false;
template <class T>
inline constexpr bool is_reference_wrapper<std::reference_wrapper<T>> = true;

/// The object that an argument refers to: x for std::ref(x), else the argument itself.
template <class C>
constexpr decltype(auto) unwrapped(C&& c) noexcept {
  if constexpr (is_reference_wrapper<std::remove_cvref_t<C>>)
    return c.get();
  else
    return static_cast<C&&>(c);
}

template <class C>
inline constexpr bool is_packed_bool = false;
template <class A>
inline constexpr bool is_packed_bool<std::vector<bool, A>> = true;

/// The same as std::addressof, without <memory>.
template <class T>
constexpr T* address_of(T& one) noexcept {
  return __builtin_addressof(one);
}

// Also for non-const views: some determine their begin lazily.
template <class C>
constexpr auto* data_of(C& c) noexcept {
  if constexpr (std::is_bounded_array_v<C>)
    return static_cast<std::remove_extent_t<C>*>(c);
  else if constexpr (has_data_and_size<C>)
    return c.data();
  else if constexpr (argument_shape_of<C>() == argument_shape::contiguous)
    return std::ranges::data(c);
  else
    return address_of(c);
}
// communicator_impl has a size_of() of its own (abi.hpp).
template <class C>
requires(!std::is_same_v<C, communicator_impl>) constexpr std::size_t size_of(C& c) noexcept {
  if constexpr (std::is_bounded_array_v<C>)
    return std::extent_v<C>;
  else if constexpr (has_data_and_size<C>)
    return static_cast<std::size_t>(c.size());
  else if constexpr (argument_shape_of<C>() == argument_shape::contiguous)
    return static_cast<std::size_t>(std::ranges::size(c));
  else
    return 1;
}

/// The type of a container's elements, or of a single value.
template <class C>
using element_type =
    std::remove_cv_t<std::remove_pointer_t<decltype(data_of(std::declval<std::remove_reference_t<C>&>()))>>;

template <class C>
inline constexpr bool is_writable =
    !std::is_const_v<std::remove_pointer_t<decltype(data_of(std::declval<std::remove_reference_t<C>&>()))>>;

template <class T>
consteval bool holds_address();
// For the types inside std::get, std::optional and std::variant.
template <class T, std::size_t... I>
consteval bool part_holds_address(std::index_sequence<I...>) {
  return (holds_address<std::remove_cv_t<std::tuple_element_t<I, T>>>() || ...);
}
template <class T>
inline constexpr bool is_list_or_text = false;
template <class T>
inline constexpr bool is_list_or_text<std::initializer_list<T>> = true;
template <class T, class Traits>
inline constexpr bool is_list_or_text<std::basic_string_view<T, Traits>> = true;
template <class T>
inline constexpr bool alternative_holds_address = false;
template <template <class...> class Variant, class... T>
requires requires(const Variant<T...>& v) { v.valueless_by_exception(); }
inline constexpr bool alternative_holds_address<Variant<T...>> =
    (holds_address<std::remove_cv_t<T>>() || ...);

/// Whether T is known to hold an address, which is meaningless on another rank although it can be
/// copied. These are pointers, iterators, views (including std::span and std::string_view),
/// std::reference_wrapper; and pairs, tuples, arrays, optionals and variants that contain one. A
/// class with a pointer member is not detected.
template <class T>
consteval bool holds_address() {
  if constexpr (std::is_array_v<T>) {
    return holds_address<std::remove_cv_t<std::remove_all_extents_t<T>>>();
  } else if constexpr (std::is_pointer_v<T> || std::is_null_pointer_v<T> ||
                       std::is_member_function_pointer_v<T> || is_reference_wrapper<T> ||
                       is_list_or_text<T>) {
    return true;
  } else if constexpr (!std::is_class_v<T>) {
    return false;
  } else if constexpr (std::ranges::enable_view<T> || std::input_or_output_iterator<T>) {
    return true;
  } else if constexpr (has_data_and_size<T>) {  // std::array
    return holds_address<std::remove_cv_t<typename T::value_type>>();
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return part_holds_address<T>(std::make_index_sequence<std::tuple_size<T>::value>());
  } else if constexpr (requires(const T& one) {
                         one.has_value();
                         typename T::value_type;
                       }) {
    return holds_address<std::remove_cv_t<typename T::value_type>>();
  } else {
    return alternative_holds_address<T>;
  }
}

/// Types that are copied byte by byte: also std::pair and std::tuple, though their assignment is
/// not trivial.
template <class T>
inline constexpr bool is_copied_bytewise =
    !std::is_reference_v<T> &&
    (std::is_trivially_copyable_v<T> ||
     (std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>));

/// Types whose bytes may be sent.
template <class T>
inline constexpr bool is_sendable = [] {
  if constexpr (is_copied_bytewise<T>)
    return !holds_address<T>();
  else
    return false;
}();

template <class T>
using default_container = std::conditional_t<std::is_same_v<T, bool>, dynamic_array<bool>, std::vector<T>>;

/// Resizes for n elements as far as the policy allows; returns false if they do not fit.
template <resize_policy Policy, class C>
constexpr bool fit(C& c, std::size_t n) {
  if constexpr (Policy == resize_policy::grow_only) {
    if (size_of(c) < n) c.resize(n);
  } else if constexpr (Policy == resize_policy::resize_to_fit) {
    if (size_of(c) != n) c.resize(n);
  }
  return size_of(c) >= n;
}

template <class C>
counts_view counts_of(C& c) noexcept {
  return {data_of(c), size_of(c)};
}

// --- the arguments of one call, found by name
template <parameter Name, class Argument>
struct holder {
  Argument argument;  // a reference in blocking calls
};

template <class... Arguments>
struct argument_set : holder<parameter_of<std::remove_reference_t<Arguments>>, Arguments>... {};

template <parameter Name, class Argument>
constexpr std::remove_reference_t<Argument>& get(holder<Name, Argument>& h) noexcept {
  return h.argument;
}

}  // namespace detail
}  // namespace tutti
TUTTI_API_END
