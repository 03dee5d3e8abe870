// SPDX-License-Identifier: Apache-2.0
//
// What this process keeps of a communicator of the program's, as an attribute of it: what its calls were
// found to run, and, from the first call on that tutti serves, a group of tutti's of the same ranks, which is
// made without a message and has no communicator of MPI's; so no message of either can meet one of the other.
// A table in front of the attributes finds it in a few instructions; nearly all calls that are handed through
// to MPI need no more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "communicator/internal_calls.hpp"
#include "engines/mpi/mpi_endpoint.hpp"
#include "frontends/preload/communicator_names.hpp"
#include "frontends/preload/quiet_errors.hpp"
#include "frontends/preload/real_mpi.hpp"
#include "frontends/preload/translated_call.hpp"

namespace tutti::preload {

/// What calls run that differ in their count alone, within a stretch of counts. Never changes.
struct verdict {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;  ///< of what combines
  int least = 1;            ///< count
  unsigned span = 0;        ///< the greatest one less the least
  bool in_place = false;
  bool passes = false;  ///< left to MPI
  bool direct = false;  ///< tutti's, on the program's own buffers, without another look at the arguments
  element type_of_ours{};
  operation op_of_ours{};
  std::size_t each = 0;     ///< of our elements, in one item
  bool either = false;      ///< in place or not
  unsigned generation = 0;  ///< of datatypes and operators
};

struct known_communicator {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool served = false;  ///< false: all calls are left to MPI
  /// The last verdict that left a call of each collective to MPI, in place or not.
  std::array<std::atomic<const verdict*>, collective_names.size()> passing;

  std::array<std::vector<std::unique_ptr<const verdict>>, collective_names.size()> known;
  group ranks = group::range(0, 1, 1, 0);
  hierarchy layout;
  group_name name;                   ///< of `impl`
  detail::communicator_handle impl;  ///< none before the first call that is served
  detail::communicator_handle
      compared;  ///< of checked mode, in which calls are compared (call_comparison.hpp)
  std::unique_ptr<translated_call> translated;  ///< of blocking calls, one after another

  known_communicator();
  known_communicator(const known_communicator&) = delete;
  known_communicator& operator=(const known_communicator&) = delete;
  void leave_none() noexcept;  ///< forgets which ones left calls to MPI
};

/// The members that were asked for last, by the handles of their communicators; a place may hold another's.
/// Of the process, as the entry points are: it is the first thing that each looks at.
struct [[gnu::visibility("hidden")]] communicator_table_in_use {
  static constexpr std::size_t places = 1024;
  static std::atomic<known_communicator*>& place_of(MPI_Comm comm) noexcept {
    return table[number_of(comm) % places];
  }
  // MPIs have pointers as handles, or ints.
  template <class Handle>
  static std::size_t number_of(Handle comm) noexcept {
    if constexpr (std::is_pointer_v<Handle>) {
      const auto n = reinterpret_cast<std::uintptr_t>(comm);
      return n >> 7;
    } else {
      const auto n = static_cast<unsigned>(comm);
      return n + (n >> 29);
    }
  }
  static inline std::array<std::atomic<known_communicator*>, places> table{};
  /// Nonblocking calls of tutti's under way. They go on while MPI blocks, or are settled before.
  static inline std::atomic<std::size_t> begun{0};
};

// The difference wraps around where the count is less.
[[gnu::always_inline]] inline bool within(const verdict& v, int count) noexcept {
  return static_cast<unsigned>(count) - static_cast<unsigned>(v.least) <= v.span;
}

/// What the last call of the collective that was left to MPI had, where nothing of tutti's is under way;
/// null: there was none on this communicator.
[[gnu::always_inline]] inline const verdict* last_passed(collective what, MPI_Comm comm) noexcept {
  const known_communicator* m = communicator_table_in_use::place_of(comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != comm ||
      communicator_table_in_use::begun.load(std::memory_order_relaxed) != 0)
    return nullptr;
  const verdict* v = m->passing[static_cast<std::size_t>(what)].load(std::memory_order_acquire);
  if (v == nullptr) __builtin_unreachable();  // there is always one, if only one that fits nothing
  return v;
}

/// Whether the call can be told at once to be one that is left to MPI: the way of nearly all of them. Of a
/// barrier and what has counts for each rank: nothing else decides.
[[gnu::always_inline]] inline bool passes(collective what, MPI_Comm comm) noexcept {
  const verdict* v = last_passed(what, comm);
  return v != nullptr && v->passes;
}
[[gnu::always_inline]] inline bool passes(collective what, MPI_Comm comm, int count,
                                          MPI_Datatype type) noexcept {
  const verdict* v = last_passed(what, comm);
  return v != nullptr && type == v->type && within(*v, count);
}
[[gnu::always_inline]] inline bool passes(collective what, MPI_Comm comm, int count, MPI_Datatype type,
                                          MPI_Op op) noexcept {
  const verdict* v = last_passed(what, comm);
  return v != nullptr && type == v->type && op == v->op && within(*v, count);
}

/// The same of a gather or scatter, where the root and the others say by different arguments how long a block
/// is.
[[gnu::always_inline]] inline bool passes_rooted(collective what, MPI_Comm comm, int root, int root_count,
                                                 MPI_Datatype root_type, int count,
                                                 MPI_Datatype type) noexcept {
  const known_communicator* m = communicator_table_in_use::place_of(comm).load(std::memory_order_acquire);
  if (m == nullptr || m->comm != comm ||
      communicator_table_in_use::begun.load(std::memory_order_relaxed) != 0)
    return false;
  const verdict& v = *m->passing[static_cast<std::size_t>(what)].load(std::memory_order_acquire);
  return m->rank == root ? root_type == v.type && within(v, root_count) : type == v.type && within(v, count);
}

/// Whether all its processes are of MPI_COMM_WORLD: then all of them see that.
bool is_within_world(MPI_Comm comm);

/// The communicators of this process. Members live until the program frees their communicator and no call of
/// theirs is under way.
class communicator_table {
 public:
  communicator_table(error_handlers& handlers, communicator_names& named, bool several);
  ~communicator_table();
  communicator_table(const communicator_table&) = delete;
  communicator_table& operator=(const communicator_table&) = delete;

  /// All forget which calls they left to MPI: a handle may mean something else.
  void leave_none() noexcept;
  /// Made where there is none yet; null where `comm` is no communicator. `world`: the endpoint over all
  /// ranks.
  std::shared_ptr<known_communicator> of(MPI_Comm comm, const mpi::mpi_endpoint& world);
  /// Whether the member's communicator has not been freed.
  bool is_alive(const known_communicator& one);
  /// Lets go of those whose communicators are freed; in tutti's turn, since a group of tutti's may go with
  /// each.
  void let_go();
  /// At the end, of all.
  void let_all_go();

 private:
  void retire(std::shared_ptr<known_communicator> one);
  static int freed(MPI_Comm comm, int keyval, void* value, void* extra);
  void forget(known_communicator* one);

  error_handlers& handlers_;
  communicator_names& named_;
  const bool several_;
  turns lock_;  // no call to MPI is made under it
  std::unordered_map<MPI_Comm, std::shared_ptr<known_communicator>> all_;
  std::vector<std::shared_ptr<known_communicator>> gone_;
  std::vector<std::shared_ptr<known_communicator>> retired_;  // at which other threads may still look
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace tutti::preload
