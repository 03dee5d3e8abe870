// SPDX-License-Identifier: Apache-2.0
//
// Where the bytes of one item lie: a list of pieces, repeated at a distance. Contiguous data is one piece.
// alltoallw takes layouts; MPI's derived datatypes correspond to them.
//
// ```cpp
// double matrix[4][3] = {};
// layout column = layout::vector(4, sizeof(double), sizeof matrix[0]);  // 4 rows, one number of each
// assert(column.size() == 4 * sizeof(double) && column.extent() == sizeof matrix - 2 * sizeof(double));
//
// layout next_to_it = column.resized(sizeof(double));  // the next item is the next column
// double columns[3][4];
// next_to_it.pack(matrix, 3, columns);  // transposed
// ```
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

namespace tutti {

/// An item of user data with gaps or strides. Offsets, lengths and the extent, the distance from one item to
/// the next, are in bytes; the extent may be smaller or larger than what the pieces span. A value: it owns
/// its list of pieces, in which adjacent ones are joined and empty ones left out. Building and copying are
/// linear in the pieces, and throw std::bad_alloc only.
class layout {
 public:
  struct piece {
    std::ptrdiff_t offset;  ///< from where the item begins; may be negative
    std::size_t bytes;
  };

  /// `bytes` contiguous bytes.
  static layout contiguous(std::size_t bytes) { return layout({{0, bytes}}, bytes); }

  /// `count` blocks of `block` bytes, `stride` bytes from start to start. The extent reaches to the end of
  /// the last block; with a negative stride it has to be given by resized().
  static layout vector(std::size_t count, std::size_t block, std::ptrdiff_t stride) {
    std::vector<piece> pieces;
    for (std::size_t i = 0; i < count; ++i)
      pieces.push_back({static_cast<std::ptrdiff_t>(i) * stride, block});
    std::size_t extent = 0;
    if (count > 0) extent = static_cast<std::size_t>(stride) * (count - 1) + block;
    return layout(std::move(pieces), extent);
  }

  /// Any pieces, in the order in which they are to be sent.
  static layout indexed(std::span<const piece> pieces, std::size_t extent) {
    return layout({pieces.begin(), pieces.end()}, extent);
  }

  /// The same pieces with another extent.
  layout resized(std::size_t extent) const {
    layout copy = *this;
    copy.extent_ = extent;
    return copy;
  }

  std::size_t size() const noexcept { return size_; }      ///< bytes sent for one item
  std::size_t extent() const noexcept { return extent_; }  ///< bytes from one item to the next
  /// Whether any number of items is one run of bytes, from where the first begins.
  bool is_contiguous() const noexcept {
    return pieces_.size() <= 1 && extent_ == size_ && (pieces_.empty() || pieces_[0].offset == 0);
  }
  std::span<const piece> pieces() const noexcept { return pieces_; }

  /// Gathers `count` items from `items` into `count * size()` dense bytes. Linear; the two do not overlap.
  void pack(const void* items, std::size_t count, void* dense) const noexcept {
    auto* from = static_cast<const std::byte*>(items);
    auto* to = static_cast<std::byte*>(dense);
    for (std::size_t i = 0; i < count; ++i, from += extent_)
      for (const piece& p : pieces_) {
        std::memcpy(to, from + p.offset, p.bytes);
        to += p.bytes;
      }
  }

  /// The reverse. What lies between the pieces is not touched.
  void unpack(const void* dense, std::size_t count, void* items) const noexcept {
    auto* from = static_cast<const std::byte*>(dense);
    auto* to = static_cast<std::byte*>(items);
    for (std::size_t i = 0; i < count; ++i, to += extent_)
      for (const piece& p : pieces_) {
        std::memcpy(to + p.offset, from, p.bytes);
        from += p.bytes;
      }
  }

 private:
  layout(std::vector<piece> pieces, std::size_t extent) : extent_(extent) {
    for (const piece& p : pieces) {
      if (p.bytes == 0) continue;
      size_ += p.bytes;
      if (!pieces_.empty() &&
          pieces_.back().offset + static_cast<std::ptrdiff_t>(pieces_.back().bytes) == p.offset)
        pieces_.back().bytes += p.bytes;
      else
        pieces_.push_back(p);
    }
  }

  std::vector<piece> pieces_;
  std::size_t size_ = 0, extent_ = 0;
};

}  // namespace tutti
