// SPDX-License-Identifier: Apache-2.0
//
// The functions of a communicator for front ends (BSP, LPF, tasks, preload) and tuning. Those for
// programs are in tutti/detail/abi.hpp and p2p_abi.hpp. To front ends communicator_impl and
// rank_state are incomplete types. make_communicators.hpp makes communicators, and
// native_substitute.hpp repeats native collectives for BSP.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "communicator/p2p/message_queue.hpp"
#include "runtime/executor/progressable.hpp"
#include "transport/endpoint.hpp"
#include "transport/shm/current_rank.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/deferred_rejections.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/form.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {

struct rank_state;
struct selection_context;
enum class override_kind : std::uint8_t;

// --- what is known of a communicator

TUTTI_API endpoint& endpoint_of(const communicator_impl&) noexcept;
inline std::string_view engine_of(const communicator_impl& c) noexcept { return endpoint_of(c).engine(); }
inline bool shares_memory(const communicator_impl& c) noexcept { return endpoint_of(c).node() != nullptr; }
bool has_two_groups(const communicator_impl&) noexcept;
bool knows_all_members(const communicator_impl&) noexcept;
/// The job's rank of a member that this rank knows.
int address_of(const communicator_impl&, int rank) noexcept;
/// The values of a call that the decision trees may read. The communicator must be open.
selection_context selection_context_of(const communicator_impl&, const agreed_signature&);
native_offer offers_native(const communicator_impl&, const agreed_signature&) noexcept;
/// See context::native_in_memory().
std::optional<std::size_t> native_in_memory(communicator_impl&, const agreed_signature&);

/// The front end has executed a call as the override of its collective demands.
void count_obeyed(rank_state&, collective, override_kind);
/// This rank is about to make a call that it has rejected: see call_dispatcher.
void announce_rejection(communicator_impl&, const call&, mode, bool zeros, const std::string& text);

// --- who may call

/// Throws usage_error if the calling thread does not run this rank, or the run has ended.
void validate_thread(const communicator_impl&, const char* operation);
/// The same in a few instructions, for a front end that validates each of its calls.
class thread_validation {
 public:
  explicit thread_validation(const communicator_impl& of) noexcept;
  /// False also if any thread may call, or if there are rejections.
  bool is_current_rank() const noexcept {
    return running_.load(std::memory_order_relaxed) == shm::current_rank;
  }
  void operator()(const char* operation) const {
    if (!is_current_rank()) [[unlikely]]
      validate_thread(of_, operation);
  }
  /// Throws peer_error also if a rejection of another rank is due. Before anything is sent.
  void at_entry(const char* operation) const {
    if (!is_current_rank()) [[unlikely]]
      validate_entry(of_, operation);
  }

 private:
  const communicator_impl& of_;
  const std::atomic<const shm::rank_identity*>& running_;
};
/// Throws usage_error also if the communicator was freed.
void validate_usable(const communicator_impl&, const char* operation);
bool is_usable(const communicator_impl&) noexcept;
/// Whether calls are rejected because the communicator was freed, the run has ended, or the thread
/// does not run this rank.
bool is_freed(const communicator_impl&) noexcept;
/// Whether the run of this rank has ended.
bool outlived_run(const communicator_impl&) noexcept;

// --- checked mode

bool in_checked_mode(const communicator_impl&) noexcept;
/// The front end compares the calls of this rank itself from here on.
void leave_checked_mode(communicator_impl&) noexcept;
/// Reports to the other ranks, which compare the call, that this rank rejects its arguments.
void report_rejection(communicator_impl&, const call&, const char* why);

// --- progress

/// From here on every wait of this rank progresses `one`, until it is removed.
void add_progress(communicator_impl&, progressable& one);
void remove_progress(communicator_impl&, const progressable& one) noexcept;
/// Whether anything but `one` is under way on this rank.
bool has_other_operations(const communicator_impl&, const progressable* one) noexcept;
/// Progresses everything that is under way on this rank but `except`, as in a blocking wait.
void progress_others(communicator_impl&, const progressable* except);
/// The handler of guarded().
void fail_job(communicator_impl&) noexcept;
/// An exception that leaves `step` ends the job first: other ranks may be reading this rank's
/// buffers, which are about to go.
template <class Step>
decltype(auto) guarded(communicator_impl& c, Step&& step) {
  try {
    return step();
  } catch (...) {
    fail_job(c);
    throw;
  }
}

// --- messages

/// The queue that matches messages and receives. Throws usage_error as validate_usable() does.
message_queue& message_queue_of(communicator_impl&, const char* operation);

// --- tracing

/// The file for the trace of tasks; empty: none.
const std::string& file_of_task_trace(const communicator_impl&) noexcept;
/// 1 for the first trace of tasks that this rank writes.
unsigned count_task_trace(communicator_impl&) noexcept;

}  // namespace tutti::detail
