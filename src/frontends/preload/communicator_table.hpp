// SPDX-License-Identifier: Apache-2.0
//
// The state that this process keeps for each communicator of the program, as an attribute of it. It
// caches what the calls were found to run. With the first call that tutti serves it gets a group of
// tutti of the same ranks. This group is made without a message and has no MPI communicator. So
// messages of tutti and of the program never match. A table in front of the attributes finds the
// state in a few instructions. Nearly all calls that are forwarded to MPI need no more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/agreed_signature.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "frontends/preload/communicator_names.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "frontends/preload/real_mpi.hpp"
#include "frontends/preload/translated_call.hpp"

namespace tutti::preload {

/// The decision for calls that differ only in their count, within an interval of counts. Immutable.
struct cached_decision {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;  ///< of reductions
  int min_count = 1;        ///< the smallest count
  unsigned span = 0;        ///< the largest count minus the smallest
  bool in_place = false;
  bool forwarded = false;  ///< forwarded to MPI
  /// Run by tutti on the program's own buffers, without further tests of the arguments.
  bool direct = false;
  element tutti_type{};
  operation tutti_op{};
  std::size_t elements_per_item = 0;  ///< number of tutti's elements in one item
  bool any_in_place = false;          ///< the decision is the same in place and not in place
  unsigned generation = 0;            ///< of datatypes and operators
};

/// Whether a call is forwarded to MPI, and the interval of tutti's counts with the same decision.
struct decision {
  bool forwarded;
  std::uint64_t min_count, max_count;
};

/// It does not depend on handles. So a program that makes a datatype for each call needs no tree
/// for each call.
struct decision_of_signature {
  detail::agreed_signature of;  ///< without its count
  decision made;
};

/// The same for communicators with one topology, so that a program that makes many of them needs no
/// tree for each.
struct shared_decisions {
  struct decision_in_memory {
    std::uint64_t end_in_memory;  ///< calls with lower counts are made in the memory of the node
    decision_of_signature one;
  };
  hierarchy topology;
  bool whole_job = false;  ///< for communicators of all ranks
  std::vector<decision_in_memory> all;
};

struct communicator_info {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool served = false;  ///< false: all calls are forwarded to MPI
  /// The last decision of each collective that forwarded a call to MPI, in place or not.
  std::array<std::atomic<const cached_decision*>, collective_names.size()> last_forwarded;

  std::array<std::vector<std::unique_ptr<const cached_decision>>, collective_names.size()> decisions;
  std::array<std::vector<decision_of_signature>, collective_names.size()> by_signature;
  std::shared_ptr<shared_decisions> shared;  ///< null until it is needed
  decision last_packed{false, 1, 0};         ///< of decide_bcast(); initially of no count
  group ranks = group::range(0, 1, 1, 0);
  hierarchy topology;
  group_name name;                   ///< the name of `impl`
  detail::communicator_handle impl;  ///< null before the first call that is served
  /// For checked mode, which compares calls (call_comparison.hpp).
  detail::communicator_handle comparison_impl;
  std::unique_ptr<translated_call> translated;  ///< of blocking calls, one after another

  communicator_info();
  communicator_info(const communicator_info&) = delete;
  communicator_info& operator=(const communicator_info&) = delete;
  void reset_forwarded() noexcept;  ///< resets `last_forwarded`
};

/// A table of the last communicators looked up, by their handles. Another communicator may replace
/// an entry. It is global, as the entry points are, because each of them reads it first.
struct [[gnu::visibility("hidden")]] communicator_cache {
  static constexpr std::size_t slots = 1024;
  static std::atomic<communicator_info*>& slot_of(MPI_Comm comm) noexcept {
    return table[hash_of(comm) % slots];
  }
  // MPIs use pointers or ints as handles.
  template <class Handle>
  static std::size_t hash_of(Handle comm) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
      const auto n = reinterpret_cast<std::uintptr_t>(comm);
      return n >> 7;
    } else {
      const auto n = static_cast<unsigned>(comm);
      return n + (n >> 29);
    }
  }
  static inline std::array<std::atomic<communicator_info*>, slots> table{};
  /// The number of tutti's nonblocking calls in progress. They progress while MPI blocks, or are
  /// completed before.
  static inline std::atomic<std::size_t> pending{0};
};

// The unsigned difference wraps around if the count is smaller than v.min_count.
[[gnu::always_inline]] inline bool contains(const cached_decision& v, int count) noexcept {
  return static_cast<unsigned>(count) - static_cast<unsigned>(v.min_count) <= v.span;
}

/// The decision of the last call of the collective that was forwarded to MPI, if no nonblocking
/// call of tutti is in progress. Null: there is none on this communicator.
[[gnu::always_inline]] inline const cached_decision* last_forwarded_decision(collective what,
                                                                             MPI_Comm comm) noexcept {
  const communicator_info* m = communicator_cache::slot_of(comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != comm || communicator_cache::pending.load(std::memory_order_relaxed) != 0)
    return nullptr;
  const cached_decision* v =
      m->last_forwarded[static_cast<std::size_t>(what)].load(std::memory_order_acquire);
  // There is always one, at least the one that matches nothing.
  if (v == nullptr) __builtin_unreachable();
  return v;
}

/// Whether the call is known at once to be forwarded to MPI; this is the path of nearly all calls.
/// The first form is for a barrier and for calls with counts for each rank, where nothing else
/// matters.
[[gnu::always_inline]] inline bool is_forwarded(collective what, MPI_Comm comm) noexcept {
  const cached_decision* v = last_forwarded_decision(what, comm);
  return v != nullptr && v->forwarded;
}
[[gnu::always_inline]] inline bool is_forwarded(collective what, MPI_Comm comm, int count,
                                                MPI_Datatype type) noexcept {
  const cached_decision* v = last_forwarded_decision(what, comm);
  return v != nullptr && type == v->type && contains(*v, count);
}
[[gnu::always_inline]] inline bool is_forwarded(collective what, MPI_Comm comm, int count, MPI_Datatype type,
                                                MPI_Op op) noexcept {
  const cached_decision* v = last_forwarded_decision(what, comm);
  return v != nullptr && type == v->type && op == v->op && contains(*v, count);
}

/// The same for a gather or scatter. The root and the other ranks give the length of a block by
/// different arguments.
[[gnu::always_inline]] inline bool is_rooted_call_forwarded(collective what, MPI_Comm comm, int root,
                                                            int root_count, MPI_Datatype root_type, int count,
                                                            MPI_Datatype type) noexcept {
  const communicator_info* m = communicator_cache::slot_of(comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != comm || communicator_cache::pending.load(std::memory_order_relaxed) != 0)
    return false;
  const cached_decision& v =
      *m->last_forwarded[static_cast<std::size_t>(what)].load(std::memory_order_acquire);
  return m->rank == root ? root_type == v.type && contains(v, root_count)
                         : type == v.type && contains(v, count);
}

/// Whether all its processes are in MPI_COMM_WORLD. All of them get the same result.
bool is_within_world(MPI_Comm comm);

/// The communicators of this process. An entry lives until the program has freed the communicator
/// and none of its calls is in progress.
class communicator_table {
 public:
  communicator_table(error_handlers& handlers, communicator_names& names, bool multithreaded);
  ~communicator_table();
  communicator_table(const communicator_table&) = delete;
  communicator_table& operator=(const communicator_table&) = delete;

  /// Makes all entries forget the calls that they forwarded to MPI, because a handle may have a new
  /// meaning.
  void reset_forwarded() noexcept;
  /// Makes the entry if necessary. Returns null if `comm` is no communicator. `world`: the endpoint
  /// over all ranks.
  std::shared_ptr<communicator_info> find_or_add(MPI_Comm comm, const mpi::mpi_endpoint& world);
  /// Whether the communicator of the entry has not been freed.
  bool is_alive(const communicator_info& one);
  /// Destroys the entries of freed communicators. The caller must hold process::mutex, because
  /// groups of tutti may be destroyed.
  void destroy_freed();
  /// Destroys all entries at the end.
  void destroy_all();

 private:
  void retire(std::shared_ptr<communicator_info> one);
  static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra);
  void remove(communicator_info* one);

  error_handlers& handlers_;
  communicator_names& names_;
  const bool multithreaded_;
  optional_mutex mutex_;  // not held during calls to MPI
  std::unordered_map<MPI_Comm, std::shared_ptr<communicator_info>> all_;
  std::vector<std::shared_ptr<communicator_info>> freed_;
  std::vector<std::shared_ptr<communicator_info>> retired_;  // other threads may still read these
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace tutti::preload
