// SPDX-License-Identifier: Apache-2.0
//
// One collective call without its C++ types: what the front ends hand down to the library (port.hpp).
// Addresses and counts are the caller's own; nothing here owns memory. An allgather, by hand:
//
// ```cpp
// int mine = world.rank();
// std::vector<int> all(world.size());
// call c;
// c.what = collective::allgather;
// c.type = element_of<int>();
// c.count = 1;
// c.input = &mine;
// c.output = all.data();
// detail::run_call(world.native(), c);
// assert(all.back() == world.size() - 1);
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/core/collective.hpp"
#include "tutti/core/element.hpp"
#include "tutti/core/operation.hpp"

namespace tutti {

class layout;

/// Counts or displacements, in elements, one for each rank: int or std::size_t, as the caller has them.
class counts_view {
 public:
  /// None given. Only the pointer is set: most calls have four of these, and size() means nothing then.
  counts_view() noexcept {}
  constexpr counts_view(const int* data, std::size_t size) : data_(data), size_(size), wide_(false) {}
  constexpr counts_view(const std::size_t* data, std::size_t size) : data_(data), size_(size), wide_(true) {}

  /// Number i, i below size(); a negative one wraps around.
  std::size_t operator[](std::size_t i) const noexcept {
    return wide_ ? static_cast<const std::size_t*>(data_)[i]
                 : static_cast<std::size_t>(static_cast<const int*>(data_)[i]);
  }
  /// Whether number i is negative, which operator[] hides.
  bool negative(std::size_t i) const noexcept { return !wide_ && static_cast<const int*>(data_)[i] < 0; }
  constexpr bool given() const noexcept { return data_ != nullptr; }
  /// Other numbers of the same type, as many.
  counts_view at(const void* data) const noexcept {
    counts_view other = *this;
    other.data_ = data;
    return other;
  }
  /// The first n of them.
  counts_view first(std::size_t n) const noexcept {
    counts_view some = *this;
    some.size_ = n;
    return some;
  }
  /// The caller's array where it is one of int, else null.
  const int* ints() const noexcept { return wide_ ? nullptr : static_cast<const int*>(data_); }
  constexpr std::size_t size() const noexcept { return size_; }
  /// Where they stand, and how many bytes one has. For comparisons.
  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t width() const noexcept { return wide_ ? sizeof(std::size_t) : sizeof(int); }

 private:
  const void* data_ = nullptr;
  std::size_t size_;
  bool wide_;
};

/// What to do, for all collectives alike.
///
/// `count` is the number of elements in one block: the whole vector of a bcast or (all)reduce or scan, the
/// block of one rank in gather, scatter, allgather, alltoall and reduce_scatter_block. Vector forms have the
/// four views, `in_*` for `input` and `out_*` for `output`; displacements not given mean densely packed.
/// There `count` is this rank's own block: what it sends in a gatherv or allgatherv (the root's and all
/// ranks' out_counts tell the others), what it receives in a scatterv (in_counts at the root only). alltoallv
/// has both pairs of views and no count; alltoallw the same, with `type` one byte and a layout for each
/// block.
///
/// Neighbour collectives have a block for each neighbour instead of each rank. Between two groups a rank
/// gives blocks to and takes blocks from the ranks of the other group, and views have as many entries as that
/// one has ranks; `root` counts the ranks of both.
///
/// In place (`in_place`): `input` is not read. The operand of a reduction or scan, the whole of an alltoall,
/// the own block of an allgather, and at the root the own block of a gather stand in `output`. At the root of
/// a scatter the own block stays in `input` and `output` is not written.
struct call {
  collective what = collective::barrier;  ///< which collective
  bool in_place = false;                  ///< as said above
  /// 0; or 1 + the collective for whose sake this one exchanges counts: reports name that. (No hole: calls
  /// are compared word by word.)
  std::uint16_t on_behalf = 0;
  int root = 0;                       ///< of rooted collectives
  element type{};                     ///< of both buffers
  std::size_t count = 0;              ///< elements of a block or vector
  const void* input = nullptr;        ///< what is given
  void* output = nullptr;             ///< where the result goes
  operation op{};                     ///< of reductions and scans
  counts_view in_counts;              ///< of vector forms, one a block
  counts_view in_displs;              ///< the same
  counts_view out_counts;             ///< the same
  counts_view out_displs;             ///< the same
  const layout* in_types = nullptr;   ///< of alltoallw, one a block: counts are of these, displacements bytes
  const layout* out_types = nullptr;  ///< null: blocks of bytes
  const char* label = nullptr;        ///< what reports call it; null: the collective's name
  const char* algorithm = nullptr;  ///< forces one, as "ring" or "allreduce/ring"; null: let selection choose
  const char* composition = nullptr;  ///< forces one, as "node_leader"; null: let selection choose
};

/// What reports call it.
inline const char* called(const call& c) noexcept {
  return c.label != nullptr ? c.label : name_of(c.what).data();
}

}  // namespace tutti
