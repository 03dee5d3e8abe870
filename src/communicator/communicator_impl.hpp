// SPDX-License-Identifier: Apache-2.0
//
// The state that one rank keeps of one communicator. It holds the parts, which do the work, and is
// reference counted. It is the type behind the handles of tutti/detail/owner.hpp. The functions
// of the ABI and of internal_calls.hpp pass calls on to the parts; front ends use these functions
// and do not include this header.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <utility>

#include "communicator/call_dispatcher.hpp"
#include "communicator/call_memory.hpp"
#include "communicator/checked_mode.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/group_factory.hpp"
#include "communicator/p2p_calls.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/owner.hpp"

namespace tutti::detail {

class communicator_impl : public call_site_slot {
 public:
  /// Over a context of the engine, which is open. `merged` is a communicator of the same ranks as
  /// one group, if `shape` has two groups.
  communicator_impl(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where, topology shape = {},
                    communicator_handle merged = {});
  /// Of members that make it without a message. The engine's part is opened by the first call.
  communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members, const group_name& name);
  communicator_impl(const std::shared_ptr<rank_state>& shared, const group& members, const group_name& name,
                    int first_group, communicator_handle merged);
  ~communicator_impl() = default;
  communicator_impl(const communicator_impl&) = delete;
  communicator_impl& operator=(const communicator_impl&) = delete;

  /// A new one with one reference, in the memory of a destroyed one if there is any.
  template <class... Arguments>
  static communicator_handle make(const std::shared_ptr<rank_state>& shared, Arguments&&... arguments) {
    return communicator_handle(new (*shared)
                                   communicator_impl(shared, std::forward<Arguments>(arguments)...));
  }
  static void* operator new(std::size_t bytes, rank_state& shared);
  static void* operator new(std::size_t bytes);
  static void operator delete(void* memory, rank_state& shared) noexcept;
  static void operator delete(void* memory) noexcept;
  static void operator delete(communicator_impl* object, std::destroying_delete_t) noexcept;

  // --- the parts
  call_dispatcher& calls() noexcept { return calls_; }
  const call_dispatcher& calls() const noexcept { return calls_; }
  communicator_state& state() noexcept { return state_; }
  const communicator_state& state() const noexcept { return state_; }
  checked_mode& checked() noexcept { return checked_mode_; }
  group_factory& groups() noexcept { return groups_; }
  const group_factory& groups() const noexcept { return groups_; }
  p2p_calls& p2p() noexcept { return p2p_; }
  call_memory& memory() noexcept { return memory_; }

  int rank() const noexcept { return state_.rank(); }
  int size() const noexcept { return state_.size(); }

  /// Every later call throws usage_error. Local.
  void release() noexcept;

  // --- lifetime (lifetime.cpp); any thread may call the first two
  void add_reference() noexcept { holders_.fetch_add(1, std::memory_order_relaxed); }
  void drop_reference() noexcept;
  /// The run of this rank has ended: the engine's parts go with it.
  void end_run() noexcept;
  communicator_impl* next_dropped() const noexcept { return next_dropped_; }
  /// The next in the list of the communicators of this rank.
  const communicator_impl* next_of_rank() const noexcept { return next_; }

 private:
  control_calls& control(const communicator_handle& merged) noexcept {
    return merged ? static_cast<control_calls&>(merged->calls_) : calls_;
  }
  void link() noexcept;
  void unlink() noexcept;

  // Repeated calls read the beginning of `calls_` only, which therefore comes first.
  call_dispatcher calls_;
  communicator_state state_;
  checked_mode checked_mode_;
  group_factory groups_;
  p2p_calls p2p_;
  call_memory memory_;
  std::atomic<std::size_t> holders_{1};
  communicator_impl *prev_ = nullptr, *next_ = nullptr;  // in the rank's list
  communicator_impl* next_dropped_ = nullptr;            // among those that other threads dropped
};

}  // namespace tutti::detail
