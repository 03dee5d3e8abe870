// SPDX-License-Identifier: Apache-2.0
//
// What this process keeps of a communicator of the program's, as an attribute of it: what its calls were
// found to run, and, from the first call on that tutti serves, a communicator of tutti's own, so that no
// message of either can meet one of the other. A table in front of the attributes finds it in a few
// instructions; nearly all calls that are handed through to MPI need no more.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "engines/mpi/mpi_endpoint.hpp"
#include "face/core.hpp"
#include "preload/laid_call.hpp"
#include "preload/own.hpp"

namespace tutti::preload {

/// What calls run that differ in their count alone, within a stretch of counts. Never changes.
struct verdict {
  std::uint64_t type = ~std::uint64_t{0};  ///< the handle
  std::uint64_t key = 0;                   ///< operator and in place, see key_of()
  int least = 0;                           ///< count
  unsigned span = 0;                       ///< the greatest one less the least
  unsigned generation = 0;                 ///< of the datatypes
  bool passes = false;                     ///< left to MPI
};

/// A handle as a number: MPIs have ints or pointers.
template <class Handle>
std::uint64_t number_of(Handle h) noexcept {
  if constexpr (std::is_pointer_v<Handle>)
    return reinterpret_cast<std::uint64_t>(h);
  else
    return static_cast<std::uint64_t>(static_cast<unsigned>(h));
}
inline std::uint64_t key_of(MPI_Op op, bool in_place) noexcept {
  return number_of(op) << 1 | static_cast<std::uint64_t>(in_place);
}
inline std::uint64_t key_of(bool in_place) noexcept { return static_cast<std::uint64_t>(in_place); }

struct member {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, size = 1;
  bool served = false;  ///< false: all calls are left to MPI
  /// The last verdict that left a call of each collective to MPI.
  std::array<std::atomic<const verdict*>, collective_names.size()> passing;

  std::array<std::vector<std::unique_ptr<const verdict>>, collective_names.size()> known;
  group ranks = group::range(0, 1, 1, 0);
  hierarchy layout;
  detail::core_handle core;         ///< none before the first call that is served
  std::unique_ptr<laid_call> laid;  ///< of blocking calls, one after another

  member();
  void leave_none(collective what) noexcept;  ///< forgets which one left calls to MPI
};

/// The communicators of this process. Members live until the program frees their communicator and no call of
/// theirs is under way.
class members {
 public:
  static constexpr std::size_t places = 256;
  static std::size_t place_of(MPI_Comm comm) noexcept {
    const std::uint64_t n = number_of(comm);
    if constexpr (std::is_pointer_v<MPI_Comm>)
      return (n >> 4 ^ n >> 12) % places;
    else
      return (n + (n >> 29)) % places;
  }

  members();
  ~members();
  members(const members&) = delete;
  members& operator=(const members&) = delete;

  /// The one at hand, which may be another communicator's; null: none.
  const member* at_hand(MPI_Comm comm) const noexcept {
    return table_[place_of(comm)].load(std::memory_order_acquire);
  }
  /// Made where there is none yet; null where `comm` is no communicator. `world`: the endpoint over all
  /// ranks.
  std::shared_ptr<member> of(MPI_Comm comm, const mpi::mpi_endpoint& world);
  /// Those whose communicators are freed: their own may go.
  std::vector<std::shared_ptr<member>> take_gone();
  /// At the end: all of them.
  std::vector<std::shared_ptr<member>> take_all();

 private:
  static int freed(MPI_Comm comm, int keyval, void* value, void* extra);
  void forget(member* one);

  std::array<std::atomic<member*>, places> table_{};
  std::mutex lock_;  // no call to MPI is made under it
  std::unordered_map<member*, std::shared_ptr<member>> all_;
  std::vector<std::shared_ptr<member>> gone_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace tutti::preload
