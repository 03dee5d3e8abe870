// SPDX-License-Identifier: Apache-2.0
//
// What an engine is to the rooms above it: a door for each rank (endpoint) and, for each communicator, a way
// to move bytes between its members (context). Engines know bytes and ranks, not collectives; but an engine
// may offer whole collectives of its own as "native".
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
#include <source_location>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/agreed_signature.hpp"
#include "base/group/group_name.hpp"
#include "base/group/hierarchy.hpp"
#include "base/group/rank_list.hpp"
#include "transport/p2p_transport.hpp"
#include "transport/shm/line_exchange.hpp"
#include "transport/shm/shared_node.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"
#include "tutti/detail/repeat_call.hpp"
#include "tutti/error.hpp"

namespace tutti {

class context;

/// What an engine lets decision trees ask for beside the conditions that every call has: the name in a tree,
/// what it says (in words, for documents), and whether it holds in this job.
struct engine_condition {
  std::string_view name, meaning;
  bool holds;
};

/// Fills in one of a copy of an engine's conditions.
constexpr void state(std::span<engine_condition> conditions, std::string_view name, bool holds) noexcept {
  for (engine_condition& c : conditions)
    if (c.name == name) c.holds = holds;
}

/// All that is under way on one rank, on all its communicators, as an engine may progress it.
class rank_progress {
 public:
  /// Goes on with all of it as far as it can. Throws what any of it fails with.
  virtual void progress() = 0;

 protected:
  ~rank_progress() = default;
};

/// One rank's door to its engine. Used by that rank alone.
class endpoint : public shm::wait_interface {
 public:
  virtual ~endpoint() = default;
  virtual std::string_view engine() const noexcept = 0;  ///< its name (engines/engine.hpp)
  virtual int rank() const noexcept = 0;                 ///< in the job
  virtual int size() const noexcept = 0;
  /// How the ranks of the job lie on nodes. The same on all of them, and stays so.
  virtual const hierarchy& layout() const noexcept = 0;
  /// Conditions of this engine's own, those of its engine_entry. The same on all ranks, and stay so.
  virtual std::span<const engine_condition> conditions() const noexcept { return {}; }
  /// The ranks that share this rank's memory; null where messages go through isend and irecv.
  virtual shm::node* node() noexcept = 0;
  /// Whether any thread of the process may call for this rank, one at a time.
  virtual bool any_thread() const noexcept { return false; }
  /// Opens a communicator over members of the job. `id` is the same on all members and no other group's.
  /// Collective where `parent` is not null (an engine may have to agree on something); local for the job
  /// itself.
  virtual std::unique_ptr<context> open(const group& members, std::uint64_t id, context* parent) = 0;
  /// The same of a group that its members make without a message: they reckoned its name alike, and no other
  /// group has it. Local.
  virtual std::unique_ptr<context> open_locally(const group& members, const group_name& name) = 0;
  /// An exception is about to leave a collective on this rank: ends the job, and returns when no other rank
  /// looks into this one's memory any more.
  virtual void abandon(std::exception_ptr what) noexcept { static_cast<void>(what); }
  /// How the engine's own blocking collectives (context::native()) go with what else is under way on a rank.
  /// True: a wait within wait_inside() progresses it. False: such a collective and a begun one
  /// (native_begin()) meet each other, so a rank may begin the collective and poll it instead. The same on
  /// all ranks.
  virtual bool progresses_inside() const noexcept { return false; }
  /// Calls `wait`. Where progresses_inside(), all waits in it progress `meanwhile`; what that throws is
  /// thrown when `wait` has returned.
  virtual void wait_inside(rank_progress& meanwhile, void (*wait)(void*), void* state) {
    static_cast<void>(meanwhile);
    wait(state);
  }
  /// Ends all processes of the job at once, with a code other than 0.
  [[noreturn]] virtual void kill_job(const std::string& why) {
    std::fprintf(stderr, "tutti: rank %d ends the job: %s\n", rank(), why.c_str());
    std::fflush(stderr);
    std::_Exit(1);
  }
  /// Where the program keeps the place of its current call, until another is given; null: nowhere.
  virtual void read_place(const std::source_location* place) noexcept {
    place_.store(place, std::memory_order_relaxed);
  }
  /// Reads no place any more if it is this one, which is about to go.
  void read_no_more(const std::source_location* place) noexcept {
    if (place_.load(std::memory_order_relaxed) == place) read_place(nullptr);
  }
  std::source_location place() const noexcept {
    const std::source_location* const place = place_.load(std::memory_order_relaxed);
    return place != nullptr ? *place : std::source_location();
  }
  void begin_reading(const shm::wait_site&) override {}
  void end_reading() noexcept override {}
  /// True while a schedule that runs here should be interrupted at random places (deterministic fibers).
  virtual bool interleaves() const noexcept { return false; }
  /// A place where a restless engine may run others first.
  virtual void preempt() {}
  /// Between +1 and -1 this rank takes part in a call only for the others: it holds an error of its own,
  /// which is no consequence of another's, even if it is taken out of a wait before it throws that error.
  void serve_others(int change) noexcept { serves_others_ += change; }

 protected:
  bool serves_others() const noexcept { return serves_others_ != 0; }

 private:
  int serves_others_ = 0;
  std::atomic<const std::source_location*> place_{nullptr};  // others read it while this rank waits
};

/// State of a native collective under way.
struct native_state {
  alignas(16) std::byte state[128];
};

/// A native collective made ready for calls that differ in their buffers alone: what stays is looked up once,
/// and no call has to be laid down. Both null: an engine that has no shorter way than native().
struct ready_native {
  /// For up to `most` elements.
  void (*go)(const ready_native&, const void* input, void* output, std::size_t count) = nullptr;
  std::size_t most = 0;
  void (*go_counted)(const ready_native&, const detail::counted_call&) = nullptr;
  alignas(8) std::byte state[56];  // the engine's own
};

/// One rank's part of one communicator.
class context {
 public:
  context(endpoint& ep, const group& members, std::uint64_t id) : ep_(ep), members_(members), id_(id) {}
  virtual ~context() = default;
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  endpoint& ep() noexcept { return ep_; }
  const group& members() const noexcept { return members_; }
  std::uint64_t id() const noexcept { return id_; }

  // --- messages, for peers that are not on the node. `run` tells one collective call from another; its top
  // bit tells the calls that a composition makes from the communicator's own.
  virtual void isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) = 0;
  virtual void irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) = 0;
  /// True once complete, and then not to be asked again. Throws truncation_error where the message does not
  /// fit.
  virtual bool done(transfer& t, const shm::wait_site& site) = 0;
  /// Waits for both (either may be null); what an engine does best while it waits.
  virtual void wait_both(transfer* a, transfer* b, const shm::wait_site& site) {
    for (transfer* one : {a, b}) {
      if (one == nullptr) continue;
      while (!done(*one, site)) ep_.pause(site);
      ep_.progressed();
    }
  }

  /// What brings the program's own messages, as long as this context lives; null: an engine that has none.
  virtual std::unique_ptr<p2p_transport> open_p2p() { return nullptr; }

  // --- collectives of the engine's own. One that offers none has nothing to write here.
  virtual native_offer offers(const agreed_signature&) const noexcept { return native_offer::none; }
  virtual void native(const call&, const shm::wait_site&) { no_native(); }
  /// For blocking calls like this one. Counts and displacements, where it has them, are all given, and int.
  virtual ready_native make_ready(const call&) { return {}; }
  virtual void native_begin(const call&, native_state&) { no_native(); }
  virtual bool native_go_on(native_state&, bool /*blocking*/, const shm::wait_site&) { no_native(); }
  /// native() of allreduces of one element of line_exchange::bytes, for who combines these; null: not here.
  virtual std::optional<shm::line_exchange> lines() { return {}; }

 private:
  endpoint& ep_;
  group members_;
  std::uint64_t id_;

  [[noreturn]] static void no_native() { throw std::logic_error("this engine offers no collectives"); }
};

/// How a launch ended: the first rank that threw, if any.
struct outcome {
  int failed_rank = -1;
  std::string text;
  std::exception_ptr what;  // null where it was thrown in another process
};

/// Of a rank that has thrown; to be called where the exception is caught.
inline outcome failure_of(int rank) {
  try {
    throw;
  } catch (const std::exception& e) {
    return {rank, e.what(), std::current_exception()};
  } catch (...) {
    return {rank, "an exception that is not a std::exception", std::current_exception()};
  }
}

/// Whether it says no more than that another rank has failed: that rank's own error is the cause.
inline bool is_of_a_peer(const std::exception_ptr& what) noexcept {
  if (!what) return false;
  try {
    std::rethrow_exception(what);
  } catch (const peer_error&) {
    return true;
  } catch (...) {
    return false;
  }
}

/// What an engine is told to start.
struct launch {
  int ranks = 1;
  int workers = 0;  // fibers; 0: the cores
  std::uint64_t seed = 0;
  std::size_t stack_bytes = 0;      // of embedded ranks; 0: the engine's usual
  std::optional<bool> pin = false;  // nothing: where there are as many threads as cores
  bool check = false;
  /// Where ranks are processes: called in one of them at most, before any other can leave, with the rank that
  /// failed first (-1: the ranks cannot start) and its text; and in the others, if one of them reports what
  /// they are about to throw. Either may be empty.
  std::function<void(int rank, const std::string& text)> report;
  std::function<void()> another_reports;
};

using rank_program = std::function<void(endpoint&)>;

/// What a module (engines/mpi, one for each MPI) exports as `tutti_engine_module`.
struct engine_module {
  std::uint32_t abi;  // engine_abi of the library it was built with
  const char* name;   // "openmpi"
  const char* (*library_version)();
  outcome (*run)(int argc, char** argv, const launch& how, const rank_program& program);
};
inline constexpr std::uint32_t engine_abi = 15;

}  // namespace tutti
