// SPDX-License-Identifier: Apache-2.0
//
// The interface of an engine for the components above it. Each rank has an `endpoint`. Each
// communicator has a `context`, which moves bytes between its members. Engines handle bytes and
// ranks, not collectives. An engine may also offer native collectives.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/agreed_signature.hpp"
#include "base/group/group_name.hpp"
#include "base/group/hierarchy.hpp"
#include "base/group/rank_list.hpp"
#include "transport/p2p_transport.hpp"
#include "transport/rejection.hpp"
#include "transport/shm/line_exchange.hpp"
#include "transport/shm/shared_node.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"
#include "tutti/detail/call_key.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {
struct arena_state;
}  // namespace tutti::shm

namespace tutti::detail {

class context;

/// A condition of an engine that decision trees may test, beside the conditions of every call.
/// `name` is its name in a tree, `meaning` describes it for documents, `holds` is its value in this
/// job.
struct engine_condition {
  std::string_view name, meaning;
  bool holds;
};

/// Sets one condition in a copy of an engine's conditions.
constexpr void state(std::span<engine_condition> conditions, std::string_view name, bool holds) noexcept {
  for (engine_condition& c : conditions)
    if (c.name == name) c.holds = holds;
}

/// All operations in progress on one rank, on all its communicators, as an engine progresses them.
class rank_progress {
 public:
  /// Progresses all of them as far as possible. Throws the error of any of them.
  virtual void progress() = 0;

 protected:
  ~rank_progress() = default;
};

/// The endpoint of one rank at its engine. Only that rank uses it.
class endpoint : public shm::wait_interface {
 public:
  virtual ~endpoint() = default;
  /// The name of the engine (engines/engine_table.hpp).
  virtual std::string_view engine() const noexcept = 0;
  /// The name of the built-in trees of this job. The same on all ranks.
  virtual std::string_view trees() const noexcept { return engine(); }
  virtual int rank() const noexcept = 0;  ///< in the job
  virtual int size() const noexcept = 0;
  /// The nodes of the ranks of the job. The same on all ranks, and constant.
  virtual const hierarchy& topology() const noexcept = 0;
  /// The level of topology() whose nodes share memory. Levels below it divide a node into groups
  /// that share a socket or a cache.
  virtual int node_level() const noexcept { return 0; }
  /// The engine's own conditions, as its engine_entry lists them. The same on all ranks, and
  /// constant.
  virtual std::span<const engine_condition> conditions() const noexcept { return {}; }
  /// How the ranks of the job exchange data, and why a better way is not in use; one fact each. For
  /// reports.
  virtual std::vector<std::string> transports() const { return {"the ranks share one address space"}; }
  /// The ranks that share this rank's memory; null if messages use isend and irecv.
  virtual shm::node* node() noexcept = 0;
  /// Whether any thread of the process may call for this rank, one at a time.
  virtual bool any_thread() const noexcept { return false; }
  /// Opens a communicator over members of the job. `id` is the same on all members, and no other
  /// group has it. Collective if `parent` is not null, because an engine may need agreement. Local
  /// for the job itself.
  virtual std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) = 0;
  /// The same for a group that its members create without a message. All members computed the same
  /// name, and no other group has it. Local.
  virtual std::unique_ptr<context> open_locally(const group& members, const group_name& name) = 0;
  /// Called when an exception is about to leave a collective on this rank. Ends the job. Returns
  /// when no other rank accesses this rank's memory any more.
  virtual void abandon(std::exception_ptr what) noexcept { static_cast<void>(what); }
  /// Whether blocking native collectives (context::native()) progress the other operations of a
  /// rank. True: each wait within wait_with_progress() progresses them. False: a blocking native
  /// collective matches a nonblocking one (native_begin()). So a rank may begin it and poll
  /// instead. The same on all ranks.
  virtual bool progresses_in_waits() const noexcept { return false; }
  /// Calls `wait`. If progresses_in_waits() is true, all waits in it progress `operations`. An
  /// exception of `operations` is thrown when `wait` has returned.
  virtual void wait_with_progress(rank_progress& operations, void (*wait)(void*), void* state) {
    static_cast<void>(operations);
    wait(state);
  }
  /// Sends a rejection to a rank of the job, before this rank takes part in the call. Never waits
  /// for the receiver. If the engine does not support rejections, it drops this one.
  virtual void send_rejection(int to, const rejection& what) {
    static_cast<void>(to), static_cast<void>(what);
  }
  /// Called after the rejections of one call were sent. If the engine does not deliver them at
  /// once, it waits until they have arrived, but only for a moment.
  virtual void wait_for_rejections() noexcept {}
  /// Sets where this rank's rejections arrive; null: nowhere.
  virtual void receive_rejections(rejection_inbox* into) noexcept { static_cast<void>(into); }
  /// Ends all processes of the job at once, with a nonzero exit code.
  [[noreturn]] virtual void kill_job(const std::string& why) {
    std::fprintf(stderr, "tutti: rank %d ends the job: %s\n", rank(), why.c_str());
    std::fflush(stderr);
    std::_Exit(1);
  }
  /// Sets where reports read the current call of this rank; null: nowhere.
  virtual void set_current_call(const detail::current_call* now) noexcept {
    current_call_.store(now, std::memory_order_relaxed);
  }
  /// Forgets `now`, whose memory is about to be freed.
  void clear_current_call(const detail::current_call* now) noexcept {
    if (current_call_.load(std::memory_order_relaxed) == now) set_current_call(nullptr);
  }
  detail::current_call current_call() const noexcept {
    const detail::current_call* const now = current_call_.load(std::memory_order_relaxed);
    return now != nullptr ? *now : detail::current_call();
  }
  void begin_reading(const shm::wait_site&) override {}
  void end_reading() noexcept override {}
  /// True if the engine interrupts schedules at random places (deterministic fibers).
  virtual bool interleaves() const noexcept { return false; }
  /// A point at which a deterministic engine may run other ranks first.
  virtual void preempt() {}
  /// Between serve_peers(+1) and serve_peers(-1) this rank runs a call only for the other ranks.
  /// It holds an error of its own, which no other rank caused. This holds even if its wait is
  /// aborted before it throws that error.
  void serve_peers(int change) noexcept { serves_peers_ += change; }

 protected:
  bool serves_peers() const noexcept { return serves_peers_ != 0; }

 private:
  int serves_peers_ = 0;
  // Other threads read it while this rank waits.
  std::atomic<const detail::current_call*> current_call_{nullptr};
};

/// The state of a native collective in progress.
struct native_state {
  alignas(16) std::byte state[128];
};

/// A native collective prepared for calls that differ in their buffers only. The engine looks up
/// constant values once, and no call needs to build a `call`. Both functions are null if the engine
/// has no shorter way than native().
///
/// A repeated call jumps to these functions as its last step. So they return true, the result of
/// run_cached(), and call fail() before an exception leaves them. Their first parameters are those
/// of run_cached() and of MPI's functions, and stay in their registers.
struct ready_native {
  // For the engine. It is first, so that one register holds the address of both.
  alignas(8) std::byte state[104];
  /// Runs a call of up to `max_count` elements.
  bool (*run)(const void* input, void* output, std::size_t count, const ready_native&) = nullptr;
  std::size_t max_count = 0;
  /// Runs a call with the same counts and displacements, which may be in other arrays.
  bool (*run_counted)(const void* input, void* output, const detail::counted_call&,
                      const ready_native&) = nullptr;
  /// Ends the job because of the current exception. Set by the caller of make_ready().
  void (*on_failure)(void* of) noexcept = nullptr;
  void* on_failure_of = nullptr;

  void fail() const noexcept {
    if (on_failure != nullptr) on_failure(on_failure_of);
  }
};

/// The part of one communicator that belongs to one rank.
class context {
 public:
  context(endpoint& ep, const group& members, std::uint64_t id) : ep_(ep), members_(members), id_(id) {}
  virtual ~context() = default;
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  endpoint& ep() noexcept { return ep_; }
  const group& members() const noexcept { return members_; }
  std::uint64_t id() const noexcept { return id_; }

  // --- messages to peers outside the node

  // `run` distinguishes the collective calls. Its top bit marks the inner calls of a composition.
  virtual void isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) = 0;
  virtual void irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) = 0;
  /// Returns true once the transfer is complete. The caller must not call it again after that.
  /// Throws truncation_error if the message does not fit.
  virtual bool done(transfer& t, const shm::wait_site& site) = 0;
  /// Waits for both transfers; either may be null. An engine overrides it with its best way to
  /// wait.
  virtual void wait_both(transfer* a, transfer* b, const shm::wait_site& site) {
    for (transfer* one : {a, b}) {
      if (one == nullptr) continue;
      while (!done(*one, site)) ep_.pause(site);
      ep_.progressed();
    }
  }

  /// Opens the transport of the program's messages. Null if the engine has none. This context must
  /// outlive it.
  virtual std::unique_ptr<p2p_transport> open_p2p() { return nullptr; }

  // --- native collectives; an engine without any keeps these defaults
  virtual native_offer offers(const agreed_signature&) const noexcept { return native_offer::none; }
  /// The longest operand or block, in bytes, of native collectives like this one that use the
  /// memory of a node. Nothing if all of them use messages.
  virtual std::optional<std::size_t> native_in_memory(const agreed_signature&) const noexcept { return {}; }
  virtual void native(const call&, const shm::wait_site&) { no_native(); }
  /// Prepares blocking calls like this one. All counts and displacements, if the call has them, are
  /// given as int.
  virtual ready_native make_ready(const call&) { return {}; }
  virtual void native_begin(const call&, native_state&) { no_native(); }
  virtual bool native_progress(native_state&, bool /*blocking*/, const shm::wait_site&) { no_native(); }
  /// Runs native() for allreduces of one element of line_exchange::bytes, combined by the caller.
  /// Empty if the context does not offer it.
  virtual std::optional<shm::line_exchange> lines() { return {}; }

 private:
  endpoint& ep_;
  group members_;
  std::uint64_t id_;

  [[noreturn]] static void no_native() { throw std::logic_error("this engine offers no collectives"); }
};

/// The result of a launch: the first rank that threw, if any.
struct outcome {
  int failed_rank = -1;
  std::string text;
  std::exception_ptr what;  // null if another process threw
};

/// The outcome of a rank that has thrown. Call it in the catch block.
inline outcome failure_of(int rank) {
  try {
    throw;
  } catch (const std::exception& e) {
    return {rank, e.what(), std::current_exception()};
  } catch (...) {
    return {rank, "an exception that is not a std::exception", std::current_exception()};
  }
}

/// Whether the exception only reports that another rank has failed. That rank's error is the cause.
inline bool is_peer_error(const std::exception_ptr& what) noexcept {
  if (!what) return false;
  try {
    std::rethrow_exception(what);
  } catch (const peer_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// The parameters with which an engine starts the ranks.
struct launch {
  int ranks = 1;
  int workers = 0;  // of fibers; 0: the number of cores
  std::uint64_t seed = 0;
  std::size_t stack_bytes = 0;      // of embedded ranks; 0: the engine's default
  std::optional<bool> pin = false;  // nothing: pin if there are as many threads as cores
  bool check = false;
  /// For engines whose ranks are processes. The engine calls `report` in at most one process,
  /// before any other can leave. It passes the rank that failed first (-1: the ranks cannot start)
  /// and the text. If one process reports the error that another is about to throw, the engine
  /// calls `reported_elsewhere` in the latter. Both may be empty.
  std::function<void(int rank, const std::string& text)> report;
  std::function<void()> reported_elsewhere;
};

using rank_program = std::function<void(endpoint&)>;

/// A module (engines/mpi, one for each MPI) exports this as `tutti_engine_module`.
struct engine_module {
  std::uint32_t abi;  // engine_abi of the library that the module was built with
  const char* name;   // "openmpi"
  const char* (*library_version)();
  outcome (*run)(int argc, char** argv, const launch& how, const rank_program& program);
  // The module has its own copy of src/transport/shm, and uses the arena of the program.
  void (*use_arena)(shm::arena_state& of) noexcept;
};
inline constexpr std::uint32_t engine_abi = 23;

}  // namespace tutti::detail
