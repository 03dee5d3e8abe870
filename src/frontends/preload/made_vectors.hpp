// SPDX-License-Identifier: Apache-2.0
//
// Vectors of a predefined datatype that the program has made and committed (MPI_Type_vector). Some
// programs, such as the BLACS, make one for each call. To inspect it by MPI's functions, or to pack
// by MPI_Pack, would take longer than a short call. So this class records how its bytes lie, and
// copies them.
//
// A later vector may displace an earlier one, which is inspected then. Requires that one thread at
// a time makes, uses and frees datatypes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <mpi.h>

namespace tutti::preload {

/// Blocks of bytes at equal distances.
struct alignas(32) vector_layout {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  bool committed = false;
  std::uint32_t blocks = 0, block_bytes = 0, distance = 0;  ///< of an item

  std::size_t size() const noexcept { return std::size_t{blocks} * block_bytes; }
  std::size_t extent() const noexcept { return (blocks - std::size_t{1}) * distance + block_bytes; }
  void pack(const void* from, std::size_t items, std::byte* to) const noexcept {
    const auto* at = static_cast<const std::byte*>(from);
    for_each_block(items, [&](std::size_t offset, auto bytes) {
      std::memcpy(to, at + offset, bytes);
      to += bytes;
    });
  }
  void unpack(const std::byte* from, std::size_t items, void* to) const noexcept {
    auto* at = static_cast<std::byte*>(to);
    for_each_block(items, [&](std::size_t offset, auto bytes) {
      std::memcpy(at + offset, from, bytes);
      from += bytes;
    });
  }

 private:
  template <class Copy>
  void for_each_block(std::size_t items, Copy copy) const {
    using one_number = std::integral_constant<std::size_t, 8>;
    for (std::size_t i = 0; i < items; ++i)
      for (std::size_t b = 0; b < blocks; ++b)
        if (const std::size_t offset = i * extent() + b * distance; block_bytes == one_number::value)
          copy(offset, one_number());
        else
          copy(offset, std::size_t{block_bytes});
  }
};

class made_vectors {
 public:
  /// Records a vector that is not committed yet, unless it is long. `item_bytes`: of the predefined
  /// datatype.
  void add(MPI_Datatype handle, int blocks, int items_of_block, int stride,
           std::uint32_t item_bytes) noexcept {
    constexpr int limit = 1 << 20;
    if (blocks <= 0 || items_of_block <= 0 || stride < 0 || item_bytes == 0) return;
    if (blocks > limit || items_of_block > limit || stride > limit || item_bytes > max_item_bytes) return;
    const auto bytes = [&](int items) { return static_cast<std::uint32_t>(items) * item_bytes; };
    slot_of(handle) = {handle, false, static_cast<std::uint32_t>(blocks), bytes(items_of_block),
                       bytes(stride)};
  }
  void commit(MPI_Datatype handle) noexcept {
    if (vector_layout& one = slot_of(handle); one.handle == handle) one.committed = true;
  }
  void forget(MPI_Datatype handle) noexcept {
    if (vector_layout& one = slot_of(handle); one.handle == handle) one.handle = MPI_DATATYPE_NULL;
  }
  /// Null if it is unknown, or not committed.
  const vector_layout* find(MPI_Datatype handle) const noexcept {
    const vector_layout& one = slots_[place_of(handle)];
    return one.handle == handle && one.committed ? &one : nullptr;
  }

 private:
  static constexpr std::size_t slots = 64;
  static constexpr std::uint32_t max_item_bytes = 64;
  // MPIs use pointers or ints as handles.
  template <class Handle>
  static std::size_t place_of(Handle handle) noexcept {
    std::size_t n = 0;
    if constexpr (std::is_pointer_v<Handle>)
      n = reinterpret_cast<std::uintptr_t>(handle) >> 4;
    else
      n = static_cast<unsigned>(handle);
    return (n ^ n >> 6) % slots;
  }
  vector_layout& slot_of(MPI_Datatype handle) noexcept { return slots_[place_of(handle)]; }

  std::array<vector_layout, slots> slots_;
};

}  // namespace tutti::preload
