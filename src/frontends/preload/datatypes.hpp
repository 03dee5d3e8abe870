// SPDX-License-Identifier: Apache-2.0
//
// The properties of the program's datatypes: where the bytes of an item lie, and the element kind.
// Determined once for each datatype, and forgotten when the program frees it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "frontends/preload/made_vectors.hpp"
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

  bool used_before = false;    ///< by an earlier call
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
  datatypes(MPI_Comm self_comm, bool multithreaded);
  ~datatypes();
  datatypes(const datatypes&) = delete;
  datatypes& operator=(const datatypes&) = delete;

  const datatype& of(MPI_Datatype handle);
  /// Instead of MPI_Type_vector: a datatype that the program has freed, or MPI_DATATYPE_NULL.
  MPI_Datatype take_vector(const vector_arguments& of) noexcept {
    return multithreaded_ ? MPI_DATATYPE_NULL : vectors_.take(of);
  }
  /// Called when MPI has made a vector.
  void add_vector(MPI_Datatype handle, const vector_arguments& of);
  /// Called when the program commits the datatype. Returns false if MPI must do that first.
  bool commit_vector(MPI_Datatype handle) noexcept {
    if (multithreaded_ || !vectors_.is_usable(handle)) return false;
    vectors_.commit(handle);
    return true;
  }
  /// Called when MPI has committed the datatype.
  void commit(MPI_Datatype handle) noexcept {
    if (!multithreaded_) vectors_.commit(handle);
  }
  /// No vector is kept from now on. Without effect on those that are kept already.
  void keep_no_vectors() noexcept { keeps_vectors_ = false; }
  /// Called when the program names the datatype, sets an attribute of it, or gets its handle again.
  /// So it differs from others that are made in the same way.
  void change(MPI_Datatype handle) noexcept {
    if (!multithreaded_) vectors_.forget(handle);
  }
  /// The bytes of all items, without an inspection. 0 if they are more than `max_bytes`, or if MPI
  /// does not accept the datatype in a call. 0 also if the program has not freed the datatype since
  /// a result that was not 0: then an inspection is worth its time.
  std::size_t short_at_first_use(MPI_Datatype handle, int items, std::size_t max_bytes);
  /// Copies items to contiguous bytes and back, of any number of bytes, also at MPI_BOTTOM. Throws
  /// engine_error if MPI returns an error.
  void pack(const void* from, std::size_t items, const datatype& type, std::byte* to);
  void unpack(const std::byte* from, std::size_t items, const datatype& type, void* to);
  /// The same for items of `bytes` bytes together, which an int can count, and not at MPI_BOTTOM.
  /// pack() returns false if MPI returns an error.
  bool pack(const void* from, int items, MPI_Datatype type, std::byte* to, std::size_t bytes) const;
  void unpack(const std::byte* from, std::size_t bytes, void* to, int items, MPI_Datatype type) const;
  /// Called when the program frees the datatype. Returns the one that MPI must free now: this one,
  /// another one, or MPI_DATATYPE_NULL if a call still needs it or if it is kept.
  MPI_Datatype begin_free(MPI_Datatype handle);
  void retain(const datatype& type);
  void release(const datatype& type);

  /// Whether an earlier call has used the datatype, which of() has found usable, or it is
  /// predefined. Some programs make a datatype for each call, for which no decision is kept.
  bool use_again(MPI_Datatype handle);
  /// A decision is kept until the datatype ends.
  void note_decision(MPI_Datatype handle);
  /// Whether made_vectors knows the datatype.
  bool is_vector(MPI_Datatype handle) const noexcept { return vectors_.find(handle) != nullptr; }
  /// Changes whenever a datatype or an operator with decisions is forgotten, because its handle may
  /// get a new meaning.
  unsigned generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  void invalidate() noexcept { generation_.fetch_add(1, std::memory_order_relaxed); }

 private:
  bool defer_free(MPI_Datatype handle);
  bool keeps_vectors();
  datatype inspect(MPI_Datatype handle) const;
  bool is_accepted(MPI_Datatype handle) const;
  int send_to_self(const void* out, int out_count, MPI_Datatype out_type, void* in, int in_count,
                   MPI_Datatype in_type);

  using entry_map = std::unordered_map<MPI_Datatype, datatype>;
  datatype& insert(const datatype& made);
  void erase_derived(entry_map::iterator at) {
    derived_.fetch_sub(1, std::memory_order_relaxed);
    spare_ = entries_.extract(at);
  }

  MPI_Comm self_comm_;
  const bool multithreaded_;
  optional_mutex mutex_;  // not held during calls to MPI
  made_vectors vectors_;
  std::optional<bool> keeps_vectors_;
  // The last predefined datatype of which a vector was made. Its size is 0 if it has gaps.
  MPI_Datatype vector_item_ = MPI_DATATYPE_NULL;
  std::uint32_t vector_item_bytes_ = 0;
  entry_map entries_;
  entry_map::node_type spare_;           // of the last that was freed
  std::atomic<std::size_t> derived_{0};  // entries of datatypes that can be freed
  std::atomic<unsigned> generation_{0}, self_sends_{0};

  // Datatypes for which short_at_first_use() returned a size and which the program has not freed.
  // Each has two places. MPIs use pointers or ints as handles.
  template <class Handle>
  std::array<std::atomic<Handle>*, 2> used_slots_of(Handle handle) noexcept {
    std::size_t n = 0;
    if constexpr (std::is_pointer_v<Handle>)
      n = reinterpret_cast<std::uintptr_t>(handle) >> 4;
    else
      n = static_cast<unsigned>(handle);
    const std::size_t place = (n ^ n >> 6) % used_.size();
    return {&used_[place], &used_[place ^ 1]};
  }
  std::atomic<MPI_Datatype>* free_slot_of(MPI_Datatype handle) noexcept;
  std::array<std::atomic<MPI_Datatype>, 64> used_;
};

}  // namespace tutti::preload
