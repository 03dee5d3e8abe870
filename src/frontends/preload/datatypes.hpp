// SPDX-License-Identifier: Apache-2.0
//
// What this library knows of the program's datatypes: where the bytes of an item lie, and which of tutti's
// kinds of element it is. Found once for each, and forgotten when the program frees it.
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
  bool usable = false;   ///< MPI takes it in a call: known and committed
  bool named = false;    ///< predefined
  bool dense = false;    ///< n items are the n * size bytes at their address, in that order
  bool in_rows = false;  ///< n items are n elements of `extent` bytes that may be combined where they stand
  std::size_t size = 0;  ///< bytes of an item without gaps
  std::ptrdiff_t extent = 0;
  std::ptrdiff_t true_lower = 0;  ///< where the first byte of an item lies
  std::size_t true_extent = 0;    ///< from there to behind the last one
  element_kind kind = element_kind::opaque;

  int users = 0;       ///< calls under way, which still need the handle
  bool freed = false;  ///< by the program, while there were users
};

/// Arithmetic that MPI_BOTTOM, a null pointer, may take part in.
inline void* moved(const void* p, std::ptrdiff_t by) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(by));
}

class datatypes {
 public:
  /// `quiet`: a communicator of this process alone, which returns its errors. `several`: threads.
  datatypes(MPI_Comm quiet, bool several) : quiet_(quiet), lock_(several) {}

  const datatype& of(MPI_Datatype handle);
  /// Copies items to bytes in a row and back, of any number of bytes; from or to MPI_BOTTOM too. Throws
  /// engine_error where MPI refuses.
  void pack(const void* from, std::size_t items, const datatype& type, std::byte* to);
  void unpack(const std::byte* from, std::size_t items, const datatype& type, void* to);
  /// The program frees it: true where it is still needed, and will be freed when it is not.
  bool keeps(MPI_Datatype handle);
  void hold(const datatype& type);
  void let_go(const datatype& type);

  /// Changes when something known is forgotten: its handle may mean something else then.
  unsigned generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  void forget() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  datatype found(MPI_Datatype handle) const;
  int to_self(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
              MPI_Datatype in_type);

  MPI_Comm quiet_;
  turns lock_;  // no call to MPI is made under it
  std::unordered_map<MPI_Datatype, std::unique_ptr<datatype>> known_;
  std::atomic<unsigned> generation_{0}, copies_{0};
};

}  // namespace tutti::preload
