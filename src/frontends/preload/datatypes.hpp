// SPDX-License-Identifier: Apache-2.0
//
// The properties of the program's datatypes: where the bytes of an item lie, and the element kind.
// Determined once for each datatype, and forgotten when the program frees it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "frontends/preload/optional_mutex.hpp"
#include "frontends/preload/real_mpi.hpp"
#include "tutti/element.hpp"

namespace tutti::preload {

struct datatype {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  bool usable = false;  ///< known and committed, so that MPI accepts it in a call
  bool named = false;   ///< predefined
  /// Any n items are the n * size contiguous bytes at their address, in that order.
  bool dense = false;
  /// Any n items are n elements of `extent` bytes that can be combined in place.
  bool combinable = false;
  std::size_t size = 0;  ///< bytes of an item without gaps
  std::ptrdiff_t extent = 0;
  std::ptrdiff_t true_lower = 0;  ///< offset of the first byte of an item
  std::size_t true_extent = 0;    ///< distance from there to the end of the last byte
  element_kind kind = element_kind::opaque;

  bool used_before = false;    ///< set by may_keep_decisions()
  bool has_decisions = false;  ///< which its end must drop

  int users = 0;       ///< calls in progress that still need the handle
  bool freed = false;  ///< the program freed it while there were users
};

/// Pointer arithmetic that also works with MPI_BOTTOM, which is a null pointer.
inline void* offset_by(const void* p, std::ptrdiff_t by) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(by));
}

class datatypes {
 public:
  /// `self_comm`: a communicator of this process only, which returns its errors. `multithreaded`:
  /// several threads of the program may call.
  datatypes(MPI_Comm self_comm, bool multithreaded) : self_comm_(self_comm), mutex_(multithreaded) {}

  const datatype& of(MPI_Datatype handle);
  /// Copies items to contiguous bytes and back, of any number of bytes, also at MPI_BOTTOM. Throws
  /// engine_error if MPI returns an error.
  void pack(const void* from, std::size_t items, const datatype& type, std::byte* to);
  void unpack(const std::byte* from, std::size_t items, const datatype& type, void* to);
  /// Called when the program frees the datatype. Returns true if a call still needs it; it is freed
  /// later then.
  bool defer_free(MPI_Datatype handle);
  void retain(const datatype& type);
  void release(const datatype& type);

  /// Whether to keep the decision for a call with this datatype, which of() has found usable. Not
  /// if this is the first call of a derived datatype, because some programs make one for each call.
  bool may_keep_decisions(MPI_Datatype handle);
  /// Changes whenever a datatype with decisions is forgotten, because its handle may get a new
  /// meaning.
  unsigned generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  void invalidate() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  datatype inspect(MPI_Datatype handle) const;
  int send_to_self(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type);

  MPI_Comm self_comm_;
  optional_mutex mutex_;  // not held during calls to MPI
  std::unordered_map<MPI_Datatype, std::unique_ptr<datatype>> entries_;
  std::atomic<unsigned> generation_{0}, self_sends_{0};
};

}  // namespace tutti::preload
