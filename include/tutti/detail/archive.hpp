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
[[noreturn]] void reject_short(caller, parameter, std::size_t needed, std::size_t remaining);
[[noreturn]] void reject_long(caller, parameter, std::size_t remaining);

/// The maximal nesting of objects, which the stack of a fiber limits.
inline constexpr int max_object_depth = 128;

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
      (write(objects), ...);
    return *this;
  }

  template <class T>
  void write_message(const T& object) {
    write(object);
    if (size_ == 0) pad(1);
    if (to_ != nullptr && size_ != limit_) reject_changed();
  }
  std::size_t size() const noexcept { return size_; }

 private:
  template <class T>
  void write(const T& x) {
    constexpr kind what = kind_of_object<writer, T>();
    if constexpr (what == kind::none)
      needs_serialize<T>{};
    else if constexpr (what == kind::hook)
      write_hook(const_cast<T&>(x));
    else if constexpr (what == kind::boolean)
      write_flag(x);
    else if constexpr (what == kind::plain)
      write_bytes(address_of(x), sizeof x);
    else if constexpr (what == kind::array)
      for (const auto& one : x) write(one);
    else if constexpr (what == kind::tuple)
      write_tuple(x, std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (what == kind::optional)
      write_optional(x.has_value(), x);
    else if constexpr (what == kind::pointer)
      write_optional(x.get() != nullptr, x);
    else if constexpr (what == kind::variant)
      write_variant(x, std::make_index_sequence<alternatives_of<T>::count>());
    else
      write_range<what>(x);
  }

  template <class T>
  void write_hook(T& x) {
    if (++depth_ > max_object_depth) reject_depth();
    if constexpr (has_member_hook<writer, T>)
      x.serialize(*this);
    else
      serialize(*this, x);
    --depth_;
  }
  template <class T, std::size_t... I>
  void write_tuple(const T& x, std::index_sequence<I...>) {
    using std::get;
    (write(get<I>(x)), ...);
  }
  template <class T>
  void write_optional(bool has_value, const T& x) {
    write_flag(has_value);
    if (has_value) write(*x);
  }
  template <class T, std::size_t... I>
  void write_variant(const T& x, std::index_sequence<I...>) {
    if (x.valueless_by_exception()) reject_valueless();
    const auto which = static_cast<std::uint32_t>(x.index());
    write_bytes(&which, sizeof which);
    ((I == which ? write(*get_if<I>(address_of(x))) : void()), ...);
  }
  template <kind What, class C>
  void write_range(const C& c) {
    using element = typename C::value_type;
    const std::uint64_t n = c.size();
    write_bytes(&n, sizeof n);
    if constexpr (is_contiguous_plain<writer, C>) {
      write_bytes(c.data(), n * sizeof(element));
    } else {
      const std::size_t before = size_;
      for (const auto& one : c) {
        if constexpr (What == kind::map)
          write(one.first), write(one.second);
        else
          write(static_cast<const element&>(one));
      }
      if (size_ - before < n) pad(n - (size_ - before));
    }
  }

  void write_flag(bool flag) {
    const unsigned char byte = flag ? 1 : 0;
    write_bytes(&byte, 1);
  }
  void write_bytes(const void* from, std::size_t n) {
    if (to_ != nullptr) {
      if (n > limit_ - size_) reject_changed();
      if (n != 0) __builtin_memcpy(to_ + size_, from, n);
    }
    size_ += n;
  }
  void pad(std::size_t n) {
    for (; n != 0; --n) write_flag(false);
  }
  [[noreturn]] void reject_changed() const;
  [[noreturn]] void reject_depth() const;
  [[noreturn]] void reject_valueless() const;

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
      : site_(site), name_(name), next_(from), remaining_(size) {}

  /// For the program's own serialize().
  template <class... T>
  reader& operator()(T&&... objects) {
    using first_unserializable_of =
        typename first_unserializable<unserializable<reader, std::remove_reference_t<T>, false>...>::type;
    if constexpr (!std::is_void_v<first_unserializable_of>)
      needs_serialize<first_unserializable_of>{};
    else
      (read(objects), ...);
    return *this;
  }

  template <class T>
  void read_message(T& object) {
    const std::size_t size = remaining_;
    read(object);
    if (remaining_ == size) skip(1);
    if (remaining_ != 0) reject_long(site_, name_, remaining_);
  }

 private:
  template <class T>
  void read(T& x) {
    constexpr kind what = kind_of_object<reader, T>();
    if constexpr (what == kind::none)
      needs_serialize<T>{};
    else if constexpr (what == kind::hook)
      read_hook(x);
    else if constexpr (what == kind::boolean)
      x = read_flag();
    else if constexpr (what == kind::plain)
      read_bytes(address_of(x), sizeof x);
    else if constexpr (what == kind::array)
      for (auto& one : x) read(one);
    else if constexpr (what == kind::tuple)
      read_tuple(x, std::make_index_sequence<std::tuple_size_v<T>>());
    else if constexpr (what == kind::optional)
      read_optional(x);
    else if constexpr (what == kind::pointer)
      read_pointer(x);
    else if constexpr (what == kind::variant)
      read_variant(x, std::make_index_sequence<alternatives_of<T>::count>());
    else if constexpr (what == kind::sequence)
      read_sequence(x);
    else
      read_keys<what>(x);
  }

  template <class T>
  void read_hook(T& x) {
    if (++depth_ > max_object_depth) reject_depth();
    if constexpr (has_member_hook<reader, T>)
      x.serialize(*this);
    else
      serialize(*this, x);
    --depth_;
  }
  template <class T, std::size_t... I>
  void read_tuple(T& x, std::index_sequence<I...>) {
    using std::get;
    (read(get<I>(x)), ...);
  }
  template <class T>
  void read_optional(T& x) {
    if (!read_flag()) return x.reset();
    if (!x.has_value()) x.emplace();
    read(*x);
  }
  template <class T>
  void read_pointer(T& x) {
    if (!read_flag()) return x.reset();
    using element = std::remove_const_t<typename T::element_type>;
    auto* fresh = new element();
    x.reset(fresh);
    read(*fresh);
  }
  template <class T, std::size_t... I>
  void read_variant(T& x, std::index_sequence<I...>) {
    std::uint32_t which = 0;
    read_bytes(&which, sizeof which);
    if (which >= sizeof...(I)) reject_alternative();
    ((I == which ? read_alternative<I>(x) : void()), ...);
  }
  template <std::size_t I, class T>
  void read_alternative(T& x) {
    if (x.index() != I) x.template emplace<I>();
    read(*get_if<I>(address_of(x)));
  }
  // Reads into the existing elements of the container, so that they keep their allocations.
  template <class C>
  void read_sequence(C& c) {
    using element = typename C::value_type;
    if constexpr (is_contiguous_plain<reader, C>) {
      const std::size_t n = read_number(sizeof(element));
      c.resize(n);
      read_bytes(c.data(), n * sizeof(element));
    } else {
      const std::size_t n = read_number(1);
      const std::size_t before = remaining_;
      c.resize(n);
      for (auto&& one : c) {
        if constexpr (std::is_same_v<decltype(one), element&>) {
          read(one);
        } else {
          element made{};
          read(made);
          one = made;
        }
      }
      skip_padding(n, before);
    }
  }
  template <kind What, class C>
  void read_keys(C& c) {
    const std::size_t n = read_number(1);
    const std::size_t before = remaining_;
    c.clear();
    for (std::size_t i = 0; i < n; ++i) {
      typename C::key_type key{};
      read(key);
      if constexpr (What == kind::map) {
        typename C::mapped_type value{};
        read(value);
        c.emplace_hint(c.end(), std::move(key), std::move(value));
      } else {
        c.insert(c.end(), std::move(key));
      }
    }
    skip_padding(n, before);
  }

  bool read_flag() {
    unsigned char byte = 0;
    read_bytes(&byte, 1);
    if (byte > 1) reject_flag();
    return byte == 1;
  }
  // Reads the number of elements that follow, each of which takes at least `min_bytes` bytes.
  std::size_t read_number(std::size_t min_bytes) {
    std::uint64_t n = 0;
    read_bytes(&n, sizeof n);
    if (n > remaining_ / min_bytes) reject_number(n);
    return static_cast<std::size_t>(n);
  }
  void read_bytes(void* to, std::size_t n) {
    const std::byte* from = next_;
    skip(n);
    if (n != 0) __builtin_memcpy(to, from, n);
  }
  void skip(std::size_t n) {
    if (n > remaining_) reject_short(site_, name_, n, remaining_);
    next_ += n;
    remaining_ -= n;
  }
  void skip_padding(std::size_t n, std::size_t before) {
    if (before - remaining_ < n) skip(n - (before - remaining_));
  }
  [[noreturn]] void reject_flag() const;
  [[noreturn]] void reject_number(std::uint64_t n) const;
  [[noreturn]] void reject_alternative() const;
  [[noreturn]] void reject_depth() const;

  caller site_;
  parameter name_;
  int depth_ = 0;
  const std::byte* next_;
  std::size_t remaining_;
};

}  // namespace tutti::detail
TUTTI_API_END
