// SPDX-License-Identifier: Apache-2.0
//
// The collectives of one communicator on one rank: executes a call, begins it, or prepares it. The
// functions of tutti/detail/abi.hpp and call_key.hpp are its callers.
//
// Which call takes which path, the shortest first:
//
//   call                                                       path
//   ---------------------------------------------------------- ------------------------------------
//   same key as the last, same count, native function ready    run_cached()
//   same key and numbers, with counts, native function ready   run_cached_with_counts()
//   same key, another count, path, or with other operations    run_cached(), then run_rebuilt()
//     under way
//   same key, many counts, displacements left out, no native   run_cached_with_counts(), then
//     function, or with other operations under way             run_cached_indirect()
//   no key: same `call` as the last                            run_blocking()
//   no key: the same with another count                        run_blocking(), then run_other_count()
//   anything else, and every call of vector forms without key, run_blocking(), then run_uncached()
//     in checked mode or with a trace
//
// run_uncached() validates, compares in checked mode, selects, stores the result in the cache, and
// runs it. All paths end in execute_cached(), which calls the engine's collective, a simple
// schedule, or the executor. Operations under way on this rank progress in the executor only.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "communicator/call_cache.hpp"
#include "communicator/checked_mode.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/control_calls.hpp"
#include "communicator/schedule_store.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/call_key.hpp"
#include "tutti/detail/substitute_buffers.hpp"

namespace tutti::detail {

class call_dispatcher final : public control_calls {
 public:
  /// `rank` is that of `state`. `self` is the ABI's name for this communicator; rejected calls are
  /// reported by it. Nothing but `rank` is used before the constructors of the others have run.
  call_dispatcher(communicator_impl& self, rank_state& rank, communicator_state& state,
                  checked_mode& checked) noexcept
      : rank_(&rank), self_(self), state_(state), checked_mode_(checked), store_(state) {}
  ~call_dispatcher();
  call_dispatcher(const call_dispatcher&) = delete;
  call_dispatcher& operator=(const call_dispatcher&) = delete;

  // --- blocking calls

  // The first three are inline in cached_calls.cpp, which has the functions of the ABI that call
  // them.
  void run_blocking(const call& c);
  /// These return false, and do nothing, if the call does not repeat the last one of its
  /// collective.
  bool run_cached(std::uint64_t key, const void* input, void* output, std::size_t count,
                  combine_function combine);
  template <array_sides Sides>
  bool run_cached_with_counts(counted_call& c, std::uint64_t key);
  /// Stores a call with counts that has run, for run_cached_with_counts().
  void cache_counts(std::uint64_t key, const counted_call& c, const call& made);
  void run_control(const call& c) override;
  /// This rank is about to make a call whose arguments it has rejected with the error `text`. Its
  /// buffers are substitutes. If it sends `zeros`, the ranks that receive them get a rejection.
  void announce_rejection(const call& c, bool zeros, const std::string& text) noexcept;
  /// The same for the plan that is made next: each start announces it.
  void announce_at_starts(const call& c, bool zeros, std::string text) {
    next_plan_.emplace(planned_rejection{c, zeros, std::move(text)});
  }
  /// Whether this rank has begun the call with this id.
  bool has_begun(std::uint32_t id) const noexcept { return static_cast<std::int32_t>(next_id_ - id) > 0; }
  /// Null if the engine's part is not open.
  const context* engine() const noexcept { return engine_; }
  /// Validates a call that is executed elsewhere, and compares it in checked mode.
  void check(const call& c);

  // --- nonblocking and persistent calls
  /// `started`: the call is begun, not only prepared. Inline in collective_operation.cpp.
  pending_call make_pending(const call& c, bool started);

  // --- for repeated_allreduce
  /// Whether the last call of this collective may be repeated by the engine's own collective.
  bool repeats_native(collective what) const noexcept {
    return cache_.entry(what).fast_path && cache_.entry(what).path == call_path::native;
  }
  std::optional<shm::line_exchange> lines() { return engine_->lines(); }
  /// Calls `step` with the id of the next call, in place of a call of the engine's collective.
  template <class Step>
  [[gnu::always_inline]] void run_instead(Step&& step) {
    const std::uint32_t id = next_id_of_call();
    guarded([&] { step(id); });
  }

  /// "allreduce/ring"; empty before the first call.
  const char* last_algorithm(collective what) const noexcept { return cache_.entry(what).algorithm; }
  /// Opens the engine's part for calls. Does nothing if it is open.
  void open() {
    if (!cache_.is_open()) [[unlikely]]
      open_first();
  }
  /// No later call repeats one before.
  void forget() noexcept { cache_.forget_all(); }

 private:
  class operation;           // nonblocking or persistent
  class rejected_operation;  // the same of a call whose arguments are wrong

  // Never the id of hops, in as many bits as every engine compares.
  std::uint32_t next_id_of_call() noexcept {
    if ((next_id_ & hop::number_bits) == hop::number_bits) [[unlikely]]
      ++next_id_;
    return next_id_++;
  }
  bool has_active_operations() const noexcept { return !rank_->active.empty(); }
  bool is_current_rank() const noexcept {
    return rank_->running_thread.load(std::memory_order_relaxed) == shm::current_rank;
  }
  // As communicator_state::guarded(), with one register less.
  template <class Step>
  decltype(auto) guarded(Step&& step) {
    try {
      return step();
    } catch (...) {
      fail_job();
      throw;
    }
  }
  void fail_job() noexcept { state_.fail_job(); }

  // --- repeated calls (cached_calls.cpp)
  void dispatch(const call& c, cached_call& r);
  void execute_cached(const call& c, cached_call& r);
  [[gnu::noinline]] void execute_stored(const call& c, cached_call& r);
  void execute_ready(cached_call& r, const void* input, void* output);
  [[gnu::noinline]] void run_other_count(const call& c, cached_call& r);
  [[gnu::noinline]] bool run_rebuilt(cached_call& r, const void* input, void* output, std::size_t count);
  [[gnu::noinline]] bool run_cached_indirect(cached_call& r, counted_call& c, std::uint64_t key);
  [[gnu::noinline]] void run_uncached(const call& c);

  // --- all others (call_dispatcher.cpp)
  void open_first();
  void run_new(const call& c);
  void run_rejected(const call& c);
  prepared_call& find(const call& c) {
    open();
    return store_.find(c);
  }
  void store_in_cache(const call& c, prepared_call& p);
  prepared_call& find_for_operation(call& c, bool is_cached);
  void execute(const call& c, prepared_call& p);
  void trace(const call& c, const prepared_call& p, const bound_composition* plan, bool nonblocking,
             std::chrono::nanoseconds elapsed);

  // --- under way (collective_operation.cpp)
  pending_call make_rejected(const call& c, bool started);
  pending_call make_valid(const call& c, bool is_cached, bool started);

  // A repeated call reads these four only, and of the cache only its beginning:
  rank_state* rank_;
  context* engine_ = nullptr;  // the engine's part; null until it is open
  std::uint32_t next_id_ = 0;
  call_cache cache_;

  communicator_impl& self_;
  communicator_state& state_;
  checked_mode& checked_mode_;
  schedule_store store_;
  struct planned_rejection {
    call made;
    bool zeros;
    std::string text;
  };
  std::optional<planned_rejection> next_plan_;
  std::vector<std::size_t> in_displs_, out_displs_;  // of the current blocking call
  static constexpr std::size_t max_idle = 64;
  std::vector<operation*> idle_;  // complete operations, for the next ones
};

/// The call with all displacements, and for reduce_scatter with the length of this rank's block.
/// `in` and `out` hold what the call left out.
call with_displacements(const communicator_state& where, const call& c, std::vector<std::size_t>& in,
                        std::vector<std::size_t>& out);

/// Changes `c`, which validate() rejects with the current exception, into a call that serves the
/// other ranks with substitute buffers. Throws if it cannot (substitute_buffers::prepare()).
void prepare_rejected(communicator_impl& self, const communicator_state& where, call& c, mode how,
                      substitute_buffers& into);

/// The loop of the library that is faster for this call than its own operator; else null.
combine_function kernel_for(const call& c) noexcept;

}  // namespace tutti::detail
