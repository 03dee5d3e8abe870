// SPDX-License-Identifier: Apache-2.0
//
// The collectives of one communicator on one rank: executes a call, begins it, or prepares it. The
// functions of tutti/detail/abi.hpp and call_key.hpp are its callers.
//
// A repeated call equals the last call of its collective except for its buffers, and perhaps for
// its count. Front ends that compute a key (tutti/detail/call_key.hpp) pass only the key and
// numbers first. If that returns false, they pass the full `call` to run_call(), as all others do.
//
//      call                                                    path
//   -- ------------------------------------------------------- ------------------------------------
//   1  key; same count, and the engine's function is ready     run_cached()
//   2  key; another count, or no such function                 run_cached(), run_cached_by_call(),
//                                                              run_full_call()
//   3  key and counts, which are compared inline; same buffers run_cached_with_counts()
//   4  key and counts, which are compared out of line; or      run_cached_with_counts(),
//      other buffers                                           run_cached_with_any_counts()
//   5  `call`; same count                                      run_call()
//   6  `call`; another count                                   run_call(), run_full_call()
//   7  `call` that repeats none; every vector form; all calls  run_call(), run_uncached()
//      in checked mode, with a trace, or with algorithm()
//
// If operations are under way on this rank, calls of row 1 take the path of row 2. Calls of row 3
// then take that of row 4. Counts are compared out of line if there are many, or if displacements
// are left out. They are too if the two directions differ in their number of bytes, or if the
// engine has no function for the call. If the cache lacks the count of row 2, run_full_call()
// returns false. If it lacks that of row 6, run_full_call() calls run_uncached().
//
// Rows 1 and 3 end in the function that the engine has made ready. So does row 4 if there is such a
// function and no operation is under way. All other repeated calls end in execute_cached(). It
// calls the engine's collective, a simple schedule, or the executor (execute()). While operations
// are under way it always calls the executor, because they progress only there.
//
// A bcast or reduce of row 7 may differ from the cached call in its root only, or also in its
// count. If the engine's collective serves both, run_with_other_root() calls that. run_uncached()
// validates all other calls, compares them in checked mode, selects, and stores the result in the
// cache. It executes vector forms by execute(), and others by run_full_call(). If the arguments are
// wrong, it throws, and first serves the other ranks if they wait. With a trace it measures the
// call. It then executes a call that the cache contains by run_full_call(), and skips the rest.
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

  // The first three have the names of the functions of the ABI that call them. They are inline in
  // cached_calls.cpp, which has those functions.
  void run_call(const call& c);
  /// These return false, and do nothing, if the call does not repeat the last one of its
  /// collective.
  static bool run_cached(const void* input, void* output, std::size_t count, communicator_impl& where,
                         std::uint64_t key, combine_function combine);
  template <array_sides Sides>
  static bool run_cached_with_counts(const void* input, void* output, counted_call& c, std::uint64_t key,
                                     communicator_impl& where);
  /// Stores a call with counts that has run, for run_cached_with_counts().
  void cache_counts(std::uint64_t key, const void* input, void* output, const counted_call& c,
                    const call& made);
  void run_control(const call& c) override;
  /// This rank is about to make a call whose arguments it has rejected with the error `text`. Its
  /// buffers are substitutes. If it sends `zeros`, the ranks that receive them get a rejection. If
  /// the rejection cannot be sent, the job fails.
  void announce_rejection(const call& c, bool zeros, const std::string& text) noexcept;
  /// The same for the plan that is made next: each start announces it.
  void announce_at_starts(const call& c, bool zeros, std::string text) {
    next_plan_.emplace(planned_rejection{c, zeros, std::move(text)});
  }
  /// Whether this rank has begun the call with this id.
  bool has_begun(std::uint32_t id) const noexcept { return static_cast<std::int32_t>(next_id_ - id) > 0; }
  /// The meaning of a rejection of a call of this communicator for this rank.
  rejection_state state_of(const rejection& r) const noexcept {
    if (!has_begun(r.call)) return rejection_state::later;
    const int rank = state_.rank();
    return rank >= r.first && rank < r.end ? rejection_state::due : rejection_state::other_rank;
  }
  /// Validates a call that is executed elsewhere, and compares it in checked mode.
  void validate_call(const call& c);
  /// Counts such a call when it is over. Rejections of it are due from here on.
  void count_call();

  // --- nonblocking and persistent calls
  /// `started`: the call is begun, not only prepared. Inline in collective_operation.cpp.
  pending_call make_pending(const call& c, bool started);

  // --- for native_substitute.hpp
  /// The engine's lines, if the last call of this collective may be repeated by the engine's own
  /// collective. Empty if it may not or the engine has none.
  std::optional<shm::line_exchange> lines_of(collective what) {
    const cached_call& r = cache_.entry(what);
    if (!r.fast_path || r.path != call_path::native) return {};
    return engine_->lines();
  }
  /// The id of the next native call.
  std::uint32_t& next_id() noexcept { return next_id_; }

  /// "allreduce/ring"; empty before the first call.
  const char* last_algorithm(collective what) const noexcept { return cache_.entry(what).algorithm(); }
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

  // A schedule never has the id of hops, in as many bits as every engine compares. Native calls do
  // not skip it: they have no tags of this library, and their ids are assigned in many places. All
  // ranks must skip the same ids, although one may call the engine's collective by the executor.
  bool is_at_id_of_hops() const noexcept { return (next_id_ & hop::call_id_bits) == hop::call_id_bits; }
  std::uint32_t next_id_of_call() noexcept {
    if (is_at_id_of_hops()) [[unlikely]]
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
  /// The functions of `one` end the job as guarded() does.
  void handle_failures_of(ready_native& one) noexcept {
    one.on_failure = [](void* self) noexcept { static_cast<call_dispatcher*>(self)->fail_job(); };
    one.on_failure_of = this;
  }

  // --- repeated calls (cached_calls.cpp)
  /// Executes `c`, which repeats `r` except perhaps for its count. If the cache lacks the count, it
  /// passes the call to run_uncached() if `may_be_uncached`, or else returns false.
  [[gnu::noinline]] bool run_full_call(const call& c, cached_call& r, bool may_be_uncached);
  [[gnu::noinline]] static bool run_cached_by_call(const void* input, void* output, std::size_t count,
                                                   communicator_impl& where, std::uint64_t key,
                                                   combine_function combine);
  [[gnu::noinline]] static bool run_cached_with_any_counts(const void* input, void* output, counted_call& c,
                                                           std::uint64_t key, communicator_impl& where);
  void execute_cached(const call& c, cached_call& r);

  // --- all others (call_dispatcher.cpp)
  void open_first();
  [[gnu::noinline]] void run_uncached(const call& c);
  /// Returns false if the cached call of this collective serves no call with this root.
  bool run_with_other_root(const call& c);
  void run_rejected(const call& c);
  void send_rejections(const call& c, const std::string& text);
  prepared_call& find(const call& c) {
    open();
    return store_.find(c);
  }
  void store_in_cache(const call& c, prepared_call& p);
  prepared_call& find_for_operation(call& c, bool is_cached);
  void execute(const call& c, prepared_call& p);
  /// The same with `kernel` in place of the operator of `c`, unless it is null.
  [[gnu::noinline]] void execute(const call& c, prepared_call& p, combine_function kernel);
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
