// SPDX-License-Identifier: Apache-2.0
//
// What a named parameter carries: a reference to the caller's container, or the container itself; and how the
// library looks into containers.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/core/call.hpp"
#include "tutti/face/table.hpp"

namespace tutti {

/// What may happen to a container that receives, where its size is not that of what comes. Too small under
/// no_resize is a usage_error; the other two need resize(n), else the call does not compile.
enum class resize_policy : std::uint8_t {
  no_resize,     ///< it must be large enough; the default for containers that the caller passes
  grow_only,     ///< resized when too small, never made smaller
  resize_to_fit  ///< resized to what is received; the default for containers that the library makes
};
inline constexpr resize_policy no_resize = resize_policy::no_resize;
inline constexpr resize_policy grow_only = resize_policy::grow_only;
inline constexpr resize_policy resize_to_fit = resize_policy::resize_to_fit;

/// Asks for a new container of type C: `recv_buf(alloc_new<C>)`, the same as `recv_buf<C>()`.
template <class C>
struct allocate {};
template <class C>
inline constexpr allocate<C> alloc_new{};
/// The same for a std::vector of T: `recv_buf(alloc_container_of<int>)`.
template <class T>
inline constexpr allocate<std::vector<T>> alloc_container_of{};

/// A contiguous container that owns its elements and, other than std::vector, can hold bools: what a call
/// returns by default where the elements are bool, and what `send_buf({a, b})` is kept in.
template <class T>
class dynamic_array {
 public:
  using value_type = T;  ///< of the elements

  /// Empty, of n elements that are value-initialized, or of these values; copied and moved as a std::vector
  /// is.
  dynamic_array() = default;
  explicit dynamic_array(std::size_t n) : data_(n == 0 ? nullptr : new T[n]()), size_(n) {}
  ~dynamic_array() { delete[] data_; }
  template <class U>
  dynamic_array(std::initializer_list<U> values) : dynamic_array(values.size()) {
    T* to = data();
    for (const U& value : values) *to++ = value;
  }
  dynamic_array(const dynamic_array& other) : dynamic_array(other.size_) {
    // Once the first constructor is through, an exception deletes the elements.
    for (std::size_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  dynamic_array(dynamic_array&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  dynamic_array& operator=(dynamic_array other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  /// As of std::vector.
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

/// In: the call reads it. Out: the call makes it. in_out: both.
enum class flow : std::uint8_t { in, out, in_out };

/// A named argument. Data is `C&` where the caller's lvalue is used (non-owning), `C` where the argument owns
/// it.
template <parameter Name, flow Flow, resize_policy Policy, class Data>
struct argument {
  static constexpr parameter name = Name;
  static constexpr flow direction = Flow;
  static constexpr resize_policy policy = Policy;
  static constexpr bool owning = !std::is_reference_v<Data>;
  using data_type = Data;
  Data data;
};

/// Data of an out buffer whose type follows from what is sent.
struct automatic {};

/// Data of an argument whose factory was called with what it does not take (refused.hpp).
struct misuse {};

/// Made of whatever nothing else takes, for constructors that are deleted: one short message.
struct anything_else {
  template <class T>
  anything_else(const T&);
};

/// Data that is an object to be serialized, or one to be read (tutti/serialization.hpp).
template <class A>
concept holds_object = requires {
  typename std::remove_cvref_t<typename A::data_type>::object_format;
};

/// A container of bytes that stands for an object: the call returns that, or nothing where it is void.
template <class C>
concept stands_for_object = requires {
  typename C::unpacked_object;
};

template <class A>
inline constexpr parameter parameter_of = parameter::unnamed;
template <parameter N, flow F, resize_policy P, class D>
inline constexpr parameter parameter_of<argument<N, F, P, D>> = N;

template <class A>
inline constexpr flow direction_of = flow::in;
template <parameter N, flow F, resize_policy P, class D>
inline constexpr flow direction_of<argument<N, F, P, D>> = F;

/// A container that is never resized.
template <class A>
inline constexpr bool is_fixed = false;
template <parameter N, flow F, resize_policy P, class D>
inline constexpr bool is_fixed<argument<N, F, P, D>> =
    P == resize_policy::no_resize && !std::is_same_v<std::remove_cvref_t<D>, automatic>;

// --- containers
// ---------------------------------------------------------------------------------------------
enum class nature : std::uint8_t {
  single,      // one value: one element
  contiguous,  // data() and size(), or a C array
  scattered    // a container that is not contiguous, std::vector<bool> among them
};

template <class C>
consteval nature nature_of() {
  using bare = std::remove_reference_t<C>;
  if constexpr (std::is_bounded_array_v<bare>)
    return nature::contiguous;
  else if constexpr (requires(bare & c) {
                       *c.data(), c.size();
                       typename bare::value_type;
                     })
    return nature::contiguous;
  else if constexpr (requires(bare & c) {
                       c.size();
                       c.begin();
                       typename bare::value_type;
                     })
    return nature::scattered;
  else
    return nature::single;
}

template <class C>
inline constexpr bool is_packed_bool = false;
template <class A>
inline constexpr bool is_packed_bool<std::vector<bool, A>> = true;

/// As std::addressof, without <memory>.
template <class T>
constexpr T* address_of(T& one) noexcept {
  return __builtin_addressof(one);
}

template <class C>
constexpr auto* data_of(C& c) noexcept {
  if constexpr (std::is_bounded_array_v<C>)
    return static_cast<std::remove_extent_t<C>*>(c);
  else if constexpr (nature_of<C>() == nature::contiguous)
    return c.data();
  else
    return address_of(c);
}
template <class C>
constexpr std::size_t size_of(const C& c) noexcept {
  if constexpr (std::is_bounded_array_v<C>)
    return std::extent_v<C>;
  else if constexpr (nature_of<C>() == nature::contiguous)
    return static_cast<std::size_t>(c.size());
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

/// Types whose bytes may travel. std::pair and std::tuple are copied byte by byte too, though their
/// assignment is not trivial.
template <class T>
inline constexpr bool travels =
    !std::is_reference_v<T> &&
    (std::is_trivially_copyable_v<T> ||
     (std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>));

template <class T>
using default_container = std::conditional_t<std::is_same_v<T, bool>, dynamic_array<bool>, std::vector<T>>;

/// Makes room for n elements as far as the policy allows; false where that is too little.
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
counts_view counts_of(const C& c) noexcept {
  return {data_of(c), size_of(c)};
}

// --- the arguments of one call, found by name
// -----------------------------------------------------------------
template <parameter Name, class Argument>
struct holder {
  Argument argument;  // a reference in blocking calls
};

template <class... Arguments>
struct bag : holder<parameter_of<std::remove_reference_t<Arguments>>, Arguments>... {};

template <parameter Name, class Argument>
constexpr std::remove_reference_t<Argument>& get(holder<Name, Argument>& h) noexcept {
  return h.argument;
}

}  // namespace detail
}  // namespace tutti
