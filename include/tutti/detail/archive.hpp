// SPDX-License-Identifier: Apache-2.0
//
// The default format of serialized objects: the writer and the reader of a message. It determines
// what each standard container needs from its members, so that it includes none of their headers.
//
//     bool, and whether there is an object  one byte, 0 or 1
//     trivially copyable                    its bytes
//     pair, tuple, array                    their elements
//     other containers                      number of elements, in 8 bytes, and the elements
//     variant                               index, in 4 bytes, and the alternative
//     with a serialize(...)                 what it names
//
// If n elements take less than n bytes, zeros follow up to n bytes. The number of elements in a
// message therefore never exceeds its bytes. A reader never allocates more than that number times
// the size of an element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tutti/detail/archive_kinds.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/inference.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// Throws mismatch_error: the message does not contain an object of this type.
[[noreturn]] void refuse_short(caller, parameter, std::size_t needed, std::size_t left);
[[noreturn]] void refuse_long(caller, parameter, std::size_t left);

/// The maximal nesting of objects, which the stack of a fiber limits.
inline constexpr int deepest_object = 128;

/// Counts the bytes of an object, or writes them.
class writer {
 public:
  using is_saving = std::true_type;
  using is_loading = std::false_type;

  /// Counts only.
  writer(caller site, parameter name) noexcept : site_(site), name_(name) {}
  /// Writes `limit` bytes to `to`.
  writer(caller site, parameter name, std::byte* to, std::size_t limit) noexcept
      : site_(site), name_(name), to_(to), limit_(limit) {}

  /// For the program's own serialize().
  template <class... T>
  writer& operator()(const T&... objects) {
    using first_unserializable_of = typename first_unserializable<unserializable<writer, T>...>::type;
    if constexpr (!std::is_void_v<first_unserializable_of>)
      needs_serialize<first_unserializable_of>{};
    else
      (put(objects), ...);
    return *this;
  }

  template <class T>
  void whole(const T& object) {
    put(object);
    if (size_ == 0) pad(1);
    if (to_ != nullptr && size_ != limit_) refuse_changed();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  template <class T>
  void put(const T& x) {
    constexpr kind what = kind_of_object<writer, T>();
    if constexpr (what == kind::none)
      needs_serialize<T>{};
    else if constexpr (what == kind::hook)
      put_hook(const_cast<T&>(x));
    else if constexpr (what == kind::boolean)
      put_flag(x);
    else if constexpr (what == kind::plain)
      put_bytes(address_of(x), sizeof x);
    else if constexpr (what == kind::array)
      for (const auto& one : x) put(one);
    else if constexpr (what == kind::tuple)
      put_tuple(x, std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (what == kind::optional)
      put_optional(x.has_value(), x);
    else if constexpr (what == kind::pointer)
      put_optional(x.get() != nullptr, x);
    else if constexpr (what == kind::variant)
      put_variant(x, std::make_index_sequence<alternatives_of<T>::count>());
    else
      put_range<what>(x);
  }

  template <class T>
  void put_hook(T& x) {
    if (++depth_ > deepest_object) refuse_depth();
    if constexpr (has_member_hook<writer, T>)
      x.serialize(*this);
    else
      serialize(*this, x);
    --depth_;
  }
  template <class T, std::size_t... I>
  void put_tuple(const T& x, std::index_sequence<I...>) {
    using std::get;
    (put(get<I>(x)), ...);
  }
  template <class T>
  void put_optional(bool there, const T& x) {
    put_flag(there);
    if (there) put(*x);
  }
  template <class T, std::size_t... I>
  void put_variant(const T& x, std::index_sequence<I...>) {
    if (x.valueless_by_exception()) refuse_valueless();
    const auto which = static_cast<std::uint32_t>(x.index());
    put_bytes(&which, sizeof which);
    ((I == which ? put(*get_if<I>(address_of(x))) : void()), ...);
  }
  template <kind What, class C>
  void put_range(const C& c) {
    using element = typename C::value_type;
    const std::uint64_t n = c.size();
    put_bytes(&n, sizeof n);
    if constexpr (in_one_piece<writer, C>) {
      put_bytes(c.data(), n * sizeof(element));
    } else {
      const std::size_t before = size_;
      for (const auto& one : c) {
        if constexpr (What == kind::map)
          put(one.first), put(one.second);
        else
          put(static_cast<const element&>(one));
      }
      if (size_ - before < n) pad(n - (size_ - before));
    }
  }

  void put_flag(bool flag) {
    const unsigned char byte = flag ? 1 : 0;
    put_bytes(&byte, 1);
  }
  void put_bytes(const void* from, std::size_t n) {
    if (to_ != nullptr) {
      if (n > limit_ - size_) refuse_changed();
      if (n != 0) __builtin_memcpy(to_ + size_, from, n);
    }
    size_ += n;
  }
  void pad(std::size_t n) {
    for (; n != 0; --n) put_flag(false);
  }
  [[noreturn]] void refuse_changed() const;
  [[noreturn]] void refuse_depth() const;
  [[noreturn]] void refuse_valueless() const;

  caller site_;
  parameter name_;
  int depth_ = 0;
  std::byte* to_ = nullptr;
  std::size_t size_ = 0;
  std::size_t limit_ = static_cast<std::size_t>(-1);
};

/// Reads an object from a message, and never reads outside of it.
class reader {
 public:
  using is_saving = std::false_type;
  using is_loading = std::true_type;

  reader(caller site, parameter name, const std::byte* from, std::size_t size) noexcept
      : site_(site), name_(name), next_(from), left_(size) {}

  /// For the program's own serialize().
  template <class... T>
  reader& operator()(T&&... objects) {
    using first_unserializable_of =
        typename first_unserializable<unserializable<reader, std::remove_reference_t<T>, false>...>::type;
    if constexpr (!std::is_void_v<first_unserializable_of>)
      needs_serialize<first_unserializable_of>{};
    else
      (take(objects), ...);
    return *this;
  }

  template <class T>
  void whole(T& object) {
    const std::size_t size = left_;
    take(object);
    if (left_ == size) skip(1);
    if (left_ != 0) refuse_long(site_, name_, left_);
  }

 private:
  template <class T>
  void take(T& x) {
    constexpr kind what = kind_of_object<reader, T>();
    if constexpr (what == kind::none)
      needs_serialize<T>{};
    else if constexpr (what == kind::hook)
      take_hook(x);
    else if constexpr (what == kind::boolean)
      x = take_flag();
    else if constexpr (what == kind::plain)
      take_bytes(address_of(x), sizeof x);
    else if constexpr (what == kind::array)
      for (auto& one : x) take(one);
    else if constexpr (what == kind::tuple)
      take_tuple(x, std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (what == kind::optional)
      take_optional(x);
    else if constexpr (what == kind::pointer)
      take_pointer(x);
    else if constexpr (what == kind::variant)
      take_variant(x, std::make_index_sequence<alternatives_of<T>::count>());
    else if constexpr (what == kind::sequence)
      take_sequence(x);
    else
      take_keys<what>(x);
  }

  template <class T>
  void take_hook(T& x) {
    if (++depth_ > deepest_object) refuse_depth();
    if constexpr (has_member_hook<reader, T>)
      x.serialize(*this);
    else
      serialize(*this, x);
    --depth_;
  }
  template <class T, std::size_t... I>
  void take_tuple(T& x, std::index_sequence<I...>) {
    using std::get;
    (take(get<I>(x)), ...);
  }
  template <class T>
  void take_optional(T& x) {
    if (!take_flag()) return x.reset();
    if (!x.has_value()) x.emplace();
    take(*x);
  }
  template <class T>
  void take_pointer(T& x) {
    if (!take_flag()) return x.reset();
    using element = std::remove_const_t<typename T::element_type>;
    auto* fresh = new element();
    x.reset(fresh);
    take(*fresh);
  }
  template <class T, std::size_t... I>
  void take_variant(T& x, std::index_sequence<I...>) {
    std::uint32_t which = 0;
    take_bytes(&which, sizeof which);
    if (which >= sizeof...(I)) refuse_alternative();
    ((I == which ? take_alternative<I>(x) : void()), ...);
  }
  template <std::size_t I, class T>
  void take_alternative(T& x) {
    if (x.index() != I) x.template emplace<I>();
    take(*get_if<I>(address_of(x)));
  }
  // Reads into the existing elements of the container, so that they keep their allocations.
  template <class C>
  void take_sequence(C& c) {
    using element = typename C::value_type;
    if constexpr (in_one_piece<reader, C>) {
      const std::size_t n = take_number(sizeof(element));
      c.resize(n);
      take_bytes(c.data(), n * sizeof(element));
    } else {
      const std::size_t n = take_number(1);
      const std::size_t before = left_;
      c.resize(n);
      for (auto&& one : c) {
        if constexpr (std::is_same_v<decltype(one), element&>) {
          take(one);
        } else {
          element made{};
          take(made);
          one = made;
        }
      }
      skip_padding(n, before);
    }
  }
  template <kind What, class C>
  void take_keys(C& c) {
    const std::size_t n = take_number(1);
    const std::size_t before = left_;
    c.clear();
    for (std::size_t i = 0; i < n; ++i) {
      typename C::key_type key{};
      take(key);
      if constexpr (What == kind::map) {
        typename C::mapped_type value{};
        take(value);
        c.emplace_hint(c.end(), std::move(key), std::move(value));
      } else {
        c.insert(c.end(), std::move(key));
      }
    }
    skip_padding(n, before);
  }

  bool take_flag() {
    unsigned char byte = 0;
    take_bytes(&byte, 1);
    if (byte > 1) refuse_flag();
    return byte == 1;
  }
  // Reads the number of elements that follow, each of which takes at least `least` bytes.
  std::size_t take_number(std::size_t least) {
    std::uint64_t n = 0;
    take_bytes(&n, sizeof n);
    if (n > left_ / least) refuse_number(n);
    return static_cast<std::size_t>(n);
  }
  void take_bytes(void* to, std::size_t n) {
    const std::byte* from = next_;
    skip(n);
    if (n != 0) __builtin_memcpy(to, from, n);
  }
  void skip(std::size_t n) {
    if (n > left_) refuse_short(site_, name_, n, left_);
    next_ += n;
    left_ -= n;
  }
  void skip_padding(std::size_t n, std::size_t before) {
    if (before - left_ < n) skip(n - (before - left_));
  }
  [[noreturn]] void refuse_flag() const;
  [[noreturn]] void refuse_number(std::uint64_t n) const;
  [[noreturn]] void refuse_alternative() const;
  [[noreturn]] void refuse_depth() const;

  caller site_;
  parameter name_;
  int depth_ = 0;
  const std::byte* next_;
  std::size_t left_;
};

}  // namespace tutti::detail
TUTTI_API_END
