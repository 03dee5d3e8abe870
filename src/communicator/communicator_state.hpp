// SPDX-License-Identifier: Apache-2.0
//
// The state that all parts of one communicator share on one rank: its members, its topology, and
// its part of the engine. The parts are call_cache, schedule_store, call_dispatcher, checked_mode,
// group_factory and p2p_calls. Each refers to this object, and to no other part than it names.
//
// The engine's part is opened by the first operation that needs it, so that a group of short life
// costs little.
#pragma once

#include <memory>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>
#include <vector>

#include "base/group/group_name.hpp"
#include "base/group/rank_list.hpp"
#include "communicator/rank_state.hpp"
#include "communicator/topology.hpp"
#include "runtime/executor/executor.hpp"
#include "runtime/executor/hop.hpp"
#include "transport/endpoint.hpp"
#include "tutti/collective.hpp"

namespace tutti::detail {

/// The calling thread does not run the rank. A request that it waits for stays under way.
class foreign_thread_error final : public usage_error {
 public:
  using usage_error::usage_error;
};

class communicator_state {
 public:
  /// Without `where` the engine's part is opened later, by this name.
  communicator_state(std::shared_ptr<rank_state> shared, const group& members, const group_name& name)
      : shared_(std::move(shared)), members_(members), name_(name) {}
  communicator_state(std::shared_ptr<rank_state> shared, const group& members, const group_name& name,
                     topology shape)
      : shared_(std::move(shared)), members_(members), name_(name), topology_(std::move(shape)) {}
  communicator_state(std::shared_ptr<rank_state> shared, std::unique_ptr<context> where, topology shape);
  communicator_state(const communicator_state&) = delete;
  communicator_state& operator=(const communicator_state&) = delete;

  // --- members and topology
  int rank() const noexcept { return members_.rank(); }
  int size() const noexcept { return members_.size(); }
  const group& members() const noexcept { return members_; }
  const group_name& name() const noexcept { return name_; }
  /// Names this communicator in rejections, the same on all members. A communicator that knows all
  /// members has this name when its engine's part is open.
  std::uint64_t rejection_context() const noexcept { return knows_all() ? where_->id() : name_.a; }
  bool has_rejection_context() const noexcept { return where_ != nullptr || !knows_all(); }
  bool is_named(const rejection& r) const noexcept {
    return r.to_whole_job != knows_all() && has_rejection_context() && r.context == rejection_context();
  }
  const topology& graph() const noexcept { return topology_; }
  bool inter() const noexcept { return topology_.first_group != 0; }
  bool knows_all() const noexcept { return members_.known_members() == reach::any_rank; }
  bool has_log_hops() const noexcept { return tutti::detail::has_log_hops(members_.known_members()); }
  /// The blocks that this rank sends and receives in a collective.
  int send_block_count(collective what) const noexcept;
  int recv_block_count(collective what) const noexcept;

  // --- the rank
  rank_state& this_rank() const noexcept { return *shared_; }
  const std::shared_ptr<rank_state>& shared() const noexcept { return shared_; }
  /// Gives up this object's share of the rank's state. Nothing else may be called then.
  std::shared_ptr<rank_state> release_rank() noexcept { return std::move(shared_); }
  endpoint& ep() const noexcept { return *shared_->ep; }
  /// The current call of this rank, and its source location.
  const current_call& current() const noexcept { return shared_->current; }
  /// Null if the calling thread does not run the rank.
  current_call* writable_current() const noexcept {
    return usable() || was_moved_from() ? &shared_->current : nullptr;
  }
  const std::source_location& place() const noexcept { return shared_->current.location(); }

  // --- the engine's part
  /// Opens it unless it is open. Local for a group that was made without a message.
  void open() {
    if (nodes_ == nullptr) [[unlikely]]
      open_first();
  }
  context& engine_context() const noexcept { return *where_; }
  links& peers() noexcept { return *links_; }
  const hierarchy& nodes() const noexcept { return *nodes_; }
  /// Returns it to the engine. Only memory is left.
  void close() noexcept;

  // --- who may call, and until when
  bool usable() const noexcept { return shared_->may_call_here(); }
  bool is_over() const noexcept { return shared_->over(); }
  /// Then the state is that of a substitute, which each thread has of its own.
  bool was_moved_from() const noexcept {
    return shared_->running_thread.load(std::memory_order_relaxed) == &shm::no_rank;
  }
  /// Whether the calling thread runs this rank. Faster than usable(), which also holds where any
  /// thread may call.
  bool is_current_rank() const noexcept {
    return shared_->running_thread.load(std::memory_order_relaxed) == shm::current_rank;
  }
  void free() noexcept { freed_ = true; }
  bool was_freed() const noexcept { return freed_; }
  /// Throws usage_error if the calling thread does not run this rank, or the run has ended.
  void validate_thread(const char* operation) const {
    if (!is_current_rank()) [[unlikely]]
      reject_thread(operation);
  }
  /// For the entry of a call of the program that begins an operation, before it sends anything.
  /// Throws peer_error also if a rejection of another rank is due. The parts of such a call use
  /// validate_thread().
  void validate_entry(const char* operation) const {
    if (!is_current_rank()) [[unlikely]]
      validate_entry_slow_path(operation);
  }
  /// These throw usage_error also if the communicator was freed.
  void validate_usable(const char* operation) const;
  void validate_usable_at_entry(const char* operation) const {
    validate_entry(operation);
    validate_usable(operation);
  }
  /// Throws usage_error if this rank does not know all members.
  void validate_knows_all(const char* operation) const;

  // --- errors
  [[noreturn]] void reject(const char* operation, const char* parameter, std::string_view problem,
                           const char* remedy) const;
  [[noreturn]] void reject_rank(const char* operation, const char* parameter, int rank) const;
  [[gnu::noinline, gnu::cold]] void reject_thread(const char* operation) const;
  /// The slow path of validate_entry(): the thread is another, or there are rejections. A wait
  /// passes the id of the call that it waits for (rank_state::throw_rejections()).
  [[gnu::noinline, gnu::cold]] void validate_entry_slow_path(const char* operation,
                                                             const std::uint32_t* awaited = nullptr) const;
  /// From the destructor of a request. Returns false if the operation is under way and this thread
  /// may not wait for it; the job then fails.
  bool release_on_other_thread(bool under_way, const char* operation) noexcept;
  /// An exception that leaves `step` ends the job first: other ranks may be reading this rank's
  /// buffers, which are about to go.
  template <class Step>
  decltype(auto) guarded(Step&& step) {
    try {
      return step();
    } catch (...) {
      fail_job();
      throw;
    }
  }
  /// The handler of guarded(). A separate function, so that guarded code saves few registers.
  void fail_job() noexcept;

  /// Exchanges up to two messages each way with members that this rank knows, and waits for them.
  void run_hops(const char* operation, const leg& one, const leg& other = {});

 private:
  void open_first();

  std::shared_ptr<rank_state> shared_;
  group members_;
  std::unique_ptr<context> where_;  // null until it is needed
  group_name name_;
  topology topology_;
  std::optional<links> links_;
  std::shared_ptr<const hierarchy> members_nodes_;  // null: the members are all ranks of the job
  const hierarchy* nodes_ = nullptr;                // null until the engine's part is open
  bool freed_ = false;
};

}  // namespace tutti::detail
