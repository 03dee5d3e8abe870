// SPDX-License-Identifier: Apache-2.0
//
// The positions of the bytes of one item: a list of pieces, repeated at a distance. Contiguous data
// is one piece. send_type, recv_type and send_recv_type take a layout, and alltoallw takes one for
// each block. A layout corresponds to a derived datatype of MPI.
//
// ```cpp
// double matrix[4][3] = {};
// layout column = layout::vector(4, 1, 3, layout::of<double>());  // 4 rows, one number of each
// assert(column.size() == 4 * sizeof(double));
// assert(column.extent() == sizeof matrix - 2 * sizeof(double));
//
// layout next_to_it = column.resized(sizeof(double));  // the next item is the next column
// double columns[3][4];
// next_to_it.pack(matrix, 3, columns);  // transposed
//
// struct particle {
//   char kind;
//   double place[3], speed[3];
// };
// layout kind_and_speed = layout::structure(
//     {{offsetof(particle, kind), layout::of<char>()},
//      {offsetof(particle, speed), layout::of<double>(), 3}},
//     sizeof(particle));
// assert(kind_and_speed.size() == 1 + 3 * sizeof(double));
// ```
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// An item of user data with gaps or strides. Offsets, lengths and the extent are in bytes. The
/// extent is the distance from one item to the next; it may be smaller or larger than the span of
/// the pieces. A layout is a value and owns its list of pieces. Adjacent pieces are joined and
/// empty ones omitted. Construction and copies take time linear in the pieces, allocate from the
/// second piece on, and throw only std::bad_alloc.
///
/// Unless an extent is given, it reaches from byte 0 to the end of the furthest part.
class layout {
 public:
  /// Some bytes of an item.
  struct piece {
    std::ptrdiff_t offset;  ///< from the begin of the item; may be negative
    std::size_t bytes;      ///< how many
  };
  /// `count` adjacent items; the first is item number `at`.
  struct run {
    std::ptrdiff_t at;  ///< in items, may be negative
    std::size_t count;  ///< of items
  };
  struct field;  ///< of structure(): {offset in bytes, layout, count (default 1)}

  /// No bytes and no extent.
  layout() noexcept = default;

  /// One T. The same as type_of<T>().
  template <class T>
  static layout of() noexcept {
    return contiguous(sizeof(T));
  }

  /// `bytes` contiguous bytes.
  static layout contiguous(std::size_t bytes) noexcept {
    layout made;
    made.first_.bytes = made.size_ = made.extent_ = bytes;
    return made;
  }
  /// `count` consecutive items at the distance of their extent.
  static layout contiguous(std::size_t count, const layout& item) {
    layout made;
    made.add(0, count, item);
    made.extent_ = count * item.extent_;
    return made;
  }

  /// `count` blocks of `block` bytes, `stride` bytes from begin to begin. With a negative stride
  /// the extent must be set by resized().
  static layout vector(std::size_t count, std::size_t block, std::ptrdiff_t stride) {
    return strided(count, 1, stride, contiguous(block));
  }
  /// `count` blocks of `block` items, `stride` items from begin to begin, like MPI_Type_vector.
  static layout vector(std::size_t count, std::size_t block, std::ptrdiff_t stride, const layout& item) {
    return strided(count, block, stride * static_cast<std::ptrdiff_t>(item.extent_), item);
  }

  /// Any pieces, in the order in which they are sent.
  static layout indexed(std::span<const piece> pieces, std::size_t extent) {
    layout made;
    for (const piece& p : pieces) made.add(p.offset, p.bytes);
    made.extent_ = extent;
    return made;
  }
  /// Any runs of items, in the order in which they are sent, like MPI_Type_indexed.
  static layout indexed(std::span<const run> runs, const layout& item) {
    layout made;
    for (const run& r : runs)
      made.reach(made.add(r.at * static_cast<std::ptrdiff_t>(item.extent_), r.count, item));
    return made;
  }
  static layout indexed(std::initializer_list<run> runs, const layout& item) {
    return indexed(std::span<const run>(runs.begin(), runs.size()), item);
  }

  /// Fields of any layouts; `extent` is the sizeof of the structure.
  static layout structure(std::span<const field> fields, std::size_t extent);
  static layout structure(std::initializer_list<field> fields, std::size_t extent);

  /// The same pieces with another extent.
  layout resized(std::size_t extent) const {
    layout copy = *this;
    copy.extent_ = extent;
    return copy;
  }

  std::size_t size() const noexcept { return size_; }      ///< bytes sent per item
  std::size_t extent() const noexcept { return extent_; }  ///< bytes from one item to the next
  /// Whether any number of items is a single run of bytes that starts at the begin of the first
  /// item.
  bool is_contiguous() const noexcept {
    return many_.empty() && extent_ == size_ && (size_ == 0 || first_.offset == 0);
  }
  std::span<const piece> pieces() const noexcept {
    if (!many_.empty()) return many_;
    return {&first_, size_ == 0 ? std::size_t{0} : std::size_t{1}};
  }

  /// The begin of the first byte of an item, and the end of its last one; 0 if it has no bytes.
  /// They are MPI's true bounds. Linear in the pieces.
  std::ptrdiff_t lowest() const noexcept {
    std::ptrdiff_t found = first_.offset;
    for (const piece& p : many_)
      if (p.offset < found) found = p.offset;
    return found;
  }
  std::ptrdiff_t highest() const noexcept {
    std::ptrdiff_t found = end_of(first_);
    for (const piece& p : many_)
      if (end_of(p) > found) found = end_of(p);
    return found;
  }

  /// Packs `count` items from `items` into `count * size()` dense bytes. Linear; the two must not
  /// overlap.
  void pack(const void* items, std::size_t count, void* dense) const noexcept {
    if (size_ == 0 || count == 0) return;
    if (is_contiguous()) return void(std::memcpy(dense, items, count * size_));
    auto* from = static_cast<const std::byte*>(items);
    auto* to = static_cast<std::byte*>(dense);
    for (std::size_t i = 0; i < count; ++i, from += extent_)
      for (const piece& p : pieces()) {
        std::memcpy(to, from + p.offset, p.bytes);
        to += p.bytes;
      }
  }

  /// The reverse of pack(). Does not touch the gaps.
  void unpack(const void* dense, std::size_t count, void* items) const noexcept {
    if (size_ == 0 || count == 0) return;
    if (is_contiguous()) return void(std::memcpy(items, dense, count * size_));
    auto* from = static_cast<const std::byte*>(dense);
    auto* to = static_cast<std::byte*>(items);
    for (std::size_t i = 0; i < count; ++i, to += extent_)
      for (const piece& p : pieces()) {
        std::memcpy(to + p.offset, from, p.bytes);
        from += p.bytes;
      }
  }

  /// The same pieces in the same order, and the same extent.
  friend bool operator==(const layout& a, const layout& b) noexcept {
    const auto left = a.pieces(), right = b.pieces();
    if (a.extent_ != b.extent_ || left.size() != right.size()) return false;
    for (std::size_t i = 0; i < left.size(); ++i)
      if (left[i].offset != right[i].offset || left[i].bytes != right[i].bytes) return false;
    return true;
  }

 private:
  static std::ptrdiff_t end_of(const piece& p) noexcept {
    return p.offset + static_cast<std::ptrdiff_t>(p.bytes);
  }
  static layout strided(std::size_t count, std::size_t block, std::ptrdiff_t stride, const layout& item) {
    layout made;
    for (std::size_t i = 0; i < count; ++i)
      made.reach(made.add(static_cast<std::ptrdiff_t>(i) * stride, block, item));
    return made;
  }

  void reach(std::ptrdiff_t end) noexcept {
    if (end > static_cast<std::ptrdiff_t>(extent_)) extent_ = static_cast<std::size_t>(end);
  }
  void add(std::ptrdiff_t offset, std::size_t bytes) {
    if (bytes == 0) return;
    piece& last = many_.empty() ? first_ : many_.back();
    if (size_ == 0) {
      first_ = {offset, bytes};
    } else if (end_of(last) == offset) {
      last.bytes += bytes;
    } else {
      if (many_.empty()) many_.push_back(first_);
      many_.push_back({offset, bytes});
    }
    size_ += bytes;
  }
  // Returns the end of the extent of the last item.
  std::ptrdiff_t add(std::ptrdiff_t offset, std::size_t count, const layout& item) {
    const auto step = static_cast<std::ptrdiff_t>(item.extent_);
    if (item.is_contiguous()) {
      add(offset, count * item.size_);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        for (const piece& p : item.pieces())
          add(offset + static_cast<std::ptrdiff_t>(i) * step + p.offset, p.bytes);
    }
    return offset + static_cast<std::ptrdiff_t>(count) * step;
  }

  piece first_{0, 0};
  std::vector<piece> many_;  // all pieces, if there is more than one
  std::size_t size_ = 0, extent_ = 0;
};

/// A part of a structure: `count` items of one layout.
struct layout::field {
  std::ptrdiff_t offset;  ///< in bytes
  layout item;            ///< of each
  std::size_t count = 1;  ///< how many, consecutive
};

inline layout layout::structure(std::span<const field> fields, std::size_t extent) {
  layout made;
  for (const field& f : fields) made.add(f.offset, f.count, f.item);
  made.extent_ = extent;
  return made;
}
inline layout layout::structure(std::initializer_list<field> fields, std::size_t extent) {
  return structure(std::span<const field>(fields.begin(), fields.size()), extent);
}

/// One T, as an argument of send_type and the like. It may differ from the T of the call.
template <class T>
layout type_of() noexcept {
  return layout::of<T>();
}

}  // namespace tutti
TUTTI_API_END
