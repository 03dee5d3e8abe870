// SPDX-License-Identifier: Apache-2.0
//
// A collective call without its C++ types: the argument that the front ends pass to the library
// (detail/abi.hpp). Addresses and counts belong to the caller; a call owns no memory. An allgather,
// written by hand:
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
// detail::run_call(detail::impl_of(world), c);
// assert(all.back() == world.size() - 1);
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/collective.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/element.hpp"
#include "tutti/operation.hpp"

TUTTI_API_BEGIN
namespace tutti {

class layout;

/// Counts or displacements, in elements, one for each rank. The array is of int or std::size_t, as
/// the caller has it.
class counts_view {
 public:
  /// Not given. Only the pointer is initialized, since most calls have four of these; size() is
  /// then undefined.
  counts_view() noexcept {}
  constexpr counts_view(const int* data, std::size_t size) : data_(data), size_(size), wide_(false) {}
  constexpr counts_view(const std::size_t* data, std::size_t size) : data_(data), size_(size), wide_(true) {}

  /// Number i, for i below size(); a negative one wraps around.
  std::size_t operator[](std::size_t i) const noexcept {
    return wide_ ? static_cast<const std::size_t*>(data_)[i]
                 : static_cast<std::size_t>(static_cast<const int*>(data_)[i]);
  }
  /// Whether number i is negative; operator[] hides this.
  bool negative(std::size_t i) const noexcept { return !wide_ && static_cast<const int*>(data_)[i] < 0; }
  constexpr bool given() const noexcept { return data_ != nullptr; }
  /// The same view of another array, of the same type and size.
  counts_view at(const void* data) const noexcept {
    counts_view other = *this;
    other.data_ = data;
    return other;
  }
  /// The first n numbers.
  counts_view first(std::size_t n) const noexcept {
    counts_view some = *this;
    some.size_ = n;
    return some;
  }
  /// The caller's array if it is one of int, else null.
  const int* ints() const noexcept { return wide_ ? nullptr : static_cast<const int*>(data_); }
  constexpr std::size_t size() const noexcept { return size_; }
  /// The address of the array, and the bytes per number. For comparisons.
  constexpr const void* data() const noexcept { return data_; }
  constexpr std::size_t width() const noexcept { return wide_ ? sizeof(std::size_t) : sizeof(int); }

 private:
  const void* data_ = nullptr;
  std::size_t size_;
  bool wide_;
};

/// The description of a call, for all collectives.
///
/// `count` is the number of elements in one block. That is the whole vector of a bcast, (all)reduce
/// or scan. It is the block of one rank in gather, scatter, allgather, alltoall and
/// reduce_scatter_block.
///
/// Vector forms have four views: `in_*` for `input` and `out_*` for `output`. Absent displacements
/// mean densely packed. `count` is then this rank's own block. In a gatherv or allgatherv it is
/// what this rank sends, and out_counts of the root or of all ranks gives the others. In a scatterv
/// it is what this rank receives, and only the root has in_counts. alltoallv has both pairs of
/// views and no count. alltoallw has the same, with `type` of one byte and a layout for each block.
///
/// Neighbor collectives have a block for each neighbor instead of each rank. On an
/// intercommunicator a rank exchanges blocks with the ranks of the other group. Views then have as
/// many entries as that group has ranks. `root` counts through both groups.
///
/// If `in_place` is set, the call does not read `input`. `output` then holds the operand of a
/// reduction or scan, or all blocks of an alltoall. In an allgather, and at the root of a gather,
/// it holds the rank's own block. At the root of a scatter its own block stays in `input`, and the
/// call does not write `output`.
struct call {
  static constexpr std::uint16_t before_call = 0xffff;

  collective what = collective::barrier;  ///< which collective
  bool in_place = false;                  ///< see above
  /// 0; or 1 + the collective on whose behalf this one exchanges counts, which reports then name;
  /// or before_call: the library's own exchange before the call that `label` names.
  /// (It fills padding: calls are compared word by word.)
  std::uint16_t on_behalf = 0;
  int root = 0;                       ///< of rooted collectives
  element type{};                     ///< of both buffers
  std::size_t count = 0;              ///< elements of a block or vector
  const void* input = nullptr;        ///< what is sent
  void* output = nullptr;             ///< where the result goes
  operation op{};                     ///< of reductions and scans
  counts_view in_counts;              ///< of vector forms, one per block
  counts_view in_displs;              ///< the same
  counts_view out_counts;             ///< the same
  counts_view out_displs;             ///< the same
  const layout* in_types = nullptr;   ///< of alltoallw: items per block, bytes as displs
  const layout* out_types = nullptr;  ///< null: blocks of bytes
  const char* label = nullptr;        ///< name in reports; null: of the collective
  const char* algorithm = nullptr;    ///< forced, as "ring"; null: selection decides
  const char* composition = nullptr;  ///< forced, as "node_leader"; null: the same
};

namespace detail {
/// The name in reports.
inline const char* called(const call& c) noexcept {
  return c.label != nullptr ? c.label : name_of(c.what).data();
}
}  // namespace detail

}  // namespace tutti
TUTTI_API_END
