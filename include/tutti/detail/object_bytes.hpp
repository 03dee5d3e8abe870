// SPDX-License-Identifier: Apache-2.0
//
// Objects as the bytes of a message: the replacements for sent and received objects in a call. To a
// frame they are containers of bytes. When the bytes have arrived, the object is deserialized.
#pragma once

#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include "tutti/detail/archive.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/p2p_abi.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// Uninitialized bytes. Growth keeps the contents.
class object_bytes {
 public:
  using value_type = std::byte;

  object_bytes() noexcept = default;
  object_bytes(object_bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)),
        fault_(std::move(other.fault_)) {}
  object_bytes& operator=(object_bytes&&) = delete;
  ~object_bytes() { delete[] data_; }

  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  void resize(std::size_t n) {
    if (n > capacity_) {
      const std::size_t capacity = size_ == 0 || n > 2 * capacity_ ? n : 2 * capacity_;
      auto* larger = new std::byte[capacity];
      if (size_ != 0) __builtin_memcpy(larger, data_, size_);
      delete[] data_;
      data_ = larger;
      capacity_ = capacity;
    }
    size_ = n;
  }
  void append(const void* from, std::size_t n) {
    const std::size_t before = size_;
    resize(before + n);
    if (n != 0) __builtin_memcpy(data_ + before, from, n);
  }

  /// Calls `write`. require_written() rethrows its exception in the frame of the call, which
  /// reports it to the other ranks.
  template <class Write>
  void fill(const Write& write) {
    try {
      write();
    } catch (...) {
      fault_ = std::current_exception();
    }
  }
  void require_packed() const {
    if (fault_) std::rethrow_exception(fault_);
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
  std::exception_ptr fault_;
};

/// The place of an object in a call, for reports.
struct object_site : caller {
  parameter name;
};

}  // namespace detail

/// The default format of objects in messages: that of detail/archive.hpp.
struct native_format {
  /// The compile error for an X that cannot be sent, emitted at instantiation; void: X can be sent.
  template <class X>
  using cannot_be_sent = detail::diagnosed_of<detail::unserializable<detail::writer, X>>;
  template <class X>
  using cannot_be_received = detail::diagnosed_of<detail::unserializable<detail::reader, X>>;

  /// Appends n objects from `first` on, and stores their lengths. A length is never 0.
  template <class X, class Iterator>
  static void pack(detail::object_bytes& to, Iterator first, std::size_t n, std::size_t* lengths,
                   detail::object_site at) {
    std::size_t all = to.size();
    Iterator next = first;
    for (std::size_t i = 0; i < n; ++i, ++next) {
      detail::writer count(at, at.name);
      count.write_message(static_cast<const X&>(*next));
      all += lengths[i] = count.size();
    }
    std::size_t end = to.size();
    to.resize(all);
    for (std::size_t i = 0; i < n; end += lengths[i], ++i, ++first)
      detail::writer(at, at.name, to.data() + end, lengths[i]).write_message(static_cast<const X&>(*first));
  }
  template <class X>
  static void unpack(const std::byte* from, std::size_t n, X& object, detail::object_site at) {
    detail::reader(at, at.name, from, n).read_message(object);
  }
};

namespace detail {

/// Maps a name to a format, for example a cereal archive.
template <class Name>
struct format_named {
  using type = Name;
};
template <class Name>
using format_of = typename format_named<Name>::type;

/// A received object. Data is `X&` for the caller's own object, else X. Many: it is a container of
/// objects, one from each rank.
template <class Data, class Format, bool Many>
class received_object : public object_bytes {
  using object_type = std::remove_reference_t<Data>;

 public:
  using unpacked_object = std::conditional_t<std::is_reference_v<Data>, void, Data>;

  template <class... D>
  explicit received_object(object_site at, D&&... object) : at_(at), object_(static_cast<D&&>(object)...) {}

  object_type& object() noexcept { return object_; }

  /// For a message. A message from rank::null has no object.
  void unpack(const envelope& received) {
    if (received.source != rank::null) Format::unpack(data(), size(), object(), at_);
  }
  /// For a collective. A rank that receives nothing has no bytes, or no lengths.
  void unpack(const call& c) {
    if constexpr (Many) {
      if (!c.out_counts.given()) return;
      object().resize(c.out_counts.size());
      std::size_t i = 0, begin = 0;
      for (auto&& one : object()) {
        Format::unpack(data() + begin, c.out_counts[i], one, at_);
        begin += c.out_counts[i++];
      }
    } else {
      const bool is_sender = c.what == collective::bcast && rank_of(at_.where) == c.root;
      if (!is_sender && c.count != 0) Format::unpack(data(), size(), object(), at_);
    }
  }

 private:
  object_site at_;
  Data object_;
};

/// Sent objects: their bytes, and if they go to different ranks, the length of each.
struct sent_objects {
  object_bytes bytes;
  dynamic_array<std::size_t> lengths;
};

}  // namespace detail
}  // namespace tutti
TUTTI_API_END
