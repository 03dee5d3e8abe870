// SPDX-License-Identifier: Apache-2.0
//
// A short bcast whose items are packed and unpacked, by MPI or, if the datatype is a vector that
// the program has made, by made_vectors.hpp. Its datatype is not inspected, which takes longer than
// a short bcast: some programs, such as the BLACS, make a datatype for each call.
//
// Each rank alone decides whether it packs. So such a call must match the same call of a rank that
// passes a dense datatype. It does: tutti moves the data of every bcast as bytes, and the ranks
// agree on their number (MPI 4.0, 5.4: equal type signatures). All decisions depend on that number
// only. Neither element kinds nor the alignment of buffers enter them. The MPIs write no header in
// front of packed items, on which translated_call relies too.
#pragma once

#include <cstddef>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/datatypes.hpp"
#include "tutti/call.hpp"

namespace tutti::preload {

class packed_bcast {
 public:
  /// `rank`, `size`: of the communicator.
  packed_bcast(datatypes& types, const arguments& a, int rank, int size) noexcept
      : types_(types), a_(a), is_root_(rank == a.root), size_(size) {}
  packed_bcast(const packed_bcast&) = delete;
  packed_bcast& operator=(const packed_bcast&) = delete;

  /// Returns false if the call must be translated, or rejected, by its inspected datatype.
  /// `item_bytes`: the size of a datatype that was inspected, or 0.
  bool find_bytes(std::size_t item_bytes) {
    if (a_.out_count <= 0 || a_.out_count > static_cast<int>(max_bytes) || a_.out == MPI_BOTTOM ||
        a_.out == MPI_IN_PLACE || a_.root < 0 || a_.root >= size_)
      return false;
    bytes_ = item_bytes != 0 ? static_cast<std::size_t>(a_.out_count) * item_bytes
                             : types_.short_at_first_use(a_.out_type, a_.out_count, max_bytes);
    return bytes_ != 0 && item_bytes <= max_bytes && bytes_ <= max_bytes;
  }
  std::size_t bytes() const noexcept { return bytes_; }
  /// Requires find_bytes(). Packs at the root. Returns false if MPI returns an error.
  bool pack() {
    if (is_root_ && !types_.pack(a_.out, a_.out_count, a_.out_type, staging_, bytes_)) return false;
    call_.what = collective::bcast;
    call_.root = a_.root;
    call_.count = bytes_;
    call_.input = call_.output = staging_;
    return true;
  }
  const call& result() const noexcept { return call_; }
  /// Unpacks at the other ranks. Throws engine_error if MPI returns an error.
  void finish() {
    if (!is_root_) types_.unpack(staging_, bytes_, a_.out, a_.out_count, a_.out_type);
  }

 private:
  // Longer calls gain less than this copy takes.
  static constexpr std::size_t max_bytes = 4096;

  datatypes& types_;
  const arguments& a_;
  const bool is_root_;
  const int size_;
  std::size_t bytes_ = 0;
  call call_;
  alignas(16) std::byte staging_[max_bytes];  // not initialized
};

}  // namespace tutti::preload
