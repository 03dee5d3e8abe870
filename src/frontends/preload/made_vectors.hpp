// SPDX-License-Identifier: Apache-2.0
//
// Vectors of a predefined datatype that the program makes and commits (MPI_Type_vector). Some
// programs, such as the BLACS, make one for each call and free it afterwards. To make, commit and
// free it takes longer than a short call, and so does MPI_Pack. So this class records how the bytes
// of a vector lie, and copies them. It keeps vectors that the program frees, and gives one out when
// the program makes an equal one. No two vectors that the program has are the same datatype.
//
// A later vector may displace an earlier one, which then is inspected as others are. Requires that
// one thread at a time makes, uses and frees datatypes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <mpi.h>

namespace tutti::preload {

/// The arguments of MPI_Type_vector.
struct vector_arguments {
  int blocks = 0, items_of_block = 0, stride = 0;
  MPI_Datatype item = MPI_DATATYPE_NULL;

  friend bool operator==(const vector_arguments&, const vector_arguments&) = default;
};

/// Blocks of bytes at equal distances.
class alignas(64) made_vector {
 public:
  made_vector() = default;
  made_vector(MPI_Datatype handle, const vector_arguments& of, std::uint32_t item_bytes)
      : handle(handle), of(of), item_bytes_(item_bytes) {}

  MPI_Datatype handle = MPI_DATATYPE_NULL;
  vector_arguments of;
  bool committed = false;  ///< by the program
  bool usable = false;     ///< MPI has committed it

  std::size_t size() const noexcept { return blocks() * block_bytes(); }
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
  std::size_t blocks() const noexcept { return static_cast<std::size_t>(of.blocks); }
  std::size_t block_bytes() const noexcept {
    return static_cast<std::size_t>(of.items_of_block) * item_bytes_;
  }
  std::size_t distance() const noexcept { return static_cast<std::size_t>(of.stride) * item_bytes_; }
  std::size_t extent() const noexcept { return (blocks() - 1) * distance() + block_bytes(); }
  template <class Copy>
  void for_each_block(std::size_t items, Copy copy) const {
    using one_number = std::integral_constant<std::size_t, 8>;
    const std::size_t bytes = block_bytes(), step = distance();
    for (std::size_t i = 0; i < items; ++i)
      for (std::size_t b = 0, offset = i * extent(); b < blocks(); ++b, offset += step)
        if (bytes == one_number::value)
          copy(offset, one_number());
        else
          copy(offset, bytes);
  }

  std::uint32_t item_bytes_ = 0;
};

class made_vectors {
 public:
  /// Records a vector that is not committed yet, unless it is long. `item_bytes`: of the predefined
  /// datatype; 0 if it has gaps.
  void add(MPI_Datatype handle, const vector_arguments& of, std::uint32_t item_bytes) noexcept {
    const auto is_short = [](int n) { return n <= 1 << 20; };
    if (of.blocks > 0 && of.items_of_block > 0 && of.stride >= 0 && item_bytes != 0 && is_short(of.blocks) &&
        is_short(of.items_of_block) && is_short(of.stride))
      known_[place_of(handle)] = {handle, of, item_bytes};
  }
  /// A kept vector, or MPI_DATATYPE_NULL.
  MPI_Datatype take(const vector_arguments& of) noexcept {
    made_vector& one = kept_[place_of(of)];
    if (one.handle == MPI_DATATYPE_NULL || one.of != of) return MPI_DATATYPE_NULL;
    one.committed = false;
    const MPI_Datatype handle = one.handle;
    known_[place_of(handle)] = std::exchange(one, {});
    return handle;
  }
  /// Returns false if MPI must commit the datatype before commit().
  bool is_usable(MPI_Datatype handle) const noexcept {
    const made_vector& one = known_[place_of(handle)];
    return one.handle == handle && one.usable;
  }
  void commit(MPI_Datatype handle) noexcept {
    if (made_vector& one = known_[place_of(handle)]; one.handle == handle) one.committed = one.usable = true;
  }
  /// Null if it is unknown, or not committed.
  const made_vector* find(MPI_Datatype handle) const noexcept {
    const made_vector& one = known_[place_of(handle)];
    return one.handle == handle && one.committed ? &one : nullptr;
  }
  void forget(MPI_Datatype handle) noexcept {
    if (made_vector& one = known_[place_of(handle)]; one.handle == handle) one = {};
  }
  /// When the program frees the datatype. Returns the one that MPI must free in its place: itself,
  /// one that it displaces, or MPI_DATATYPE_NULL.
  MPI_Datatype keep(MPI_Datatype handle) noexcept {
    made_vector& one = known_[place_of(handle)];
    if (one.handle != handle) return handle;
    const made_vector mine = std::exchange(one, {});
    return mine.usable ? std::exchange(kept_[place_of(mine.of)], mine).handle : handle;
  }
  /// One of the kept vectors, which is no longer kept, or MPI_DATATYPE_NULL.
  MPI_Datatype give_up() noexcept {
    for (made_vector& one : kept_)
      if (one.handle != MPI_DATATYPE_NULL) return std::exchange(one, {}).handle;
    return MPI_DATATYPE_NULL;
  }

 private:
  static constexpr std::size_t slots = 64;
  // MPIs use pointers or ints as handles.
  template <class Handle>
  static std::size_t number_of(Handle handle) noexcept {
    if constexpr (std::is_pointer_v<Handle>)
      return reinterpret_cast<std::uintptr_t>(handle) >> 4;
    else
      return static_cast<unsigned>(handle);
  }
  static std::size_t place_of(MPI_Datatype handle) noexcept {
    const std::size_t n = number_of(handle);
    return (n ^ n >> 6) % slots;
  }
  static std::size_t place_of(const vector_arguments& of) noexcept {
    const auto n = static_cast<std::size_t>(of.blocks) + static_cast<std::size_t>(of.items_of_block) * 7 +
                   static_cast<std::size_t>(of.stride) * 31 + number_of(of.item);
    return (n ^ n >> 6) % slots;
  }

  std::array<made_vector, slots> known_, kept_;
};

}  // namespace tutti::preload
