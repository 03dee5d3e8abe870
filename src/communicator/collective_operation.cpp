// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking and persistent calls. While one is under way, every wait of this rank progresses it.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "communicator/call_dispatcher.hpp"
#include "communicator/call_validation.hpp"
#include "communicator/communicator_impl.hpp"
#include "communicator/operations.hpp"
#include "communicator/packed_blocks.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// A nonblocking or persistent operation: its own run, and copies of the arrays that the caller may
/// free. When it is complete, the next call reuses it and the memory of its run.
class call_dispatcher::operation final : public pending {
 public:
  explicit operation(call_dispatcher& where) : where_(where), state_(where.state_) {
    slot = &where.rank_->current.place;
  }
  ~operation() = default;
  operation(const operation&) = delete;
  operation& operator=(const operation&) = delete;

  /// Before the first start(). `is_cached`: the cache contains the call.
  void prepare(const call& c, bool is_cached) {
    call_ = c;
    if (is_vector_form(c.what)) copy_arguments(c);
    prepared_ = &where_.find_for_operation(call_, is_cached);
    if (prepared_->bound != nullptr) return;
    plan_ = where_.store_.plan(call_, *prepared_, false);
    if (!composite_run_) composite_run_ = std::make_unique<composite_run>();
  }

  // During stack unwinding the other ranks may never call, so the operation gets a moment to end.
  bool dismiss() noexcept override {
    if (!state_.usable()) [[unlikely]] {
      const bool may_delete = state_.release_on_other_thread(!over(), name_of(call_.what).data());
      if (may_delete) delete this;
      return may_delete;
    }
    std::unique_ptr<operation> self(this);
    end_use(*this, state_.ep(), name_of(call_.what).data(), state_.rank());
    auto& active = where_.rank_->active;
    active.erase(std::remove(active.begin(), active.end(), &run()), active.end());
    if (!ended_ || where_.idle_.size() == where_.idle_.capacity()) return true;
    packed_.reset();
    plan_.reset();
    where_.idle_.push_back(self.release());
    return true;
  }

  // A start of a plan is a call of the program.
  void start() override {
    state_.validate_entry(name_of(call_.what).data());
    begin();
  }
  void begin() {
    if (state_.was_freed())
      state_.reject(name_of(call_.what).data(), "communicator", "was freed", "start before free()");
    // Even if the run is over, since that depends on the other ranks.
    if (!ended_)
      state_.reject(name_of(call_.what).data(), "", "is already in progress",
                    "wait() before the next start()");
    if (packed_) packed_->pack();
    ended_ = false;
    if (where_.rank_->trace) start_time_ = std::chrono::steady_clock::now();
    const bool is_complete = where_.guarded([&] {
      if (plan_)
        composite_run_->begin(*plan_->bound, call_, where_.next_id_of_call());
      else
        run_.begin(*prepared_->bound, call_, where_.next_id_of_call());
      return run().advance(false);
    });
    if (!is_complete) where_.rank_->add_active(run());
  }
  bool test() override {
    state_.validate_thread(name_of(call_.what).data());
    return test_here();
  }
  void wait() override {
    state_.validate_thread(name_of(call_.what).data());
    wait_here();
  }
  bool test_at_entry() override {
    validate_entry();
    return test_here();
  }
  void wait_at_entry() override {
    validate_entry();
    wait_here();
  }

 private:
  void validate_entry() const {
    if (!state_.is_current_rank()) [[unlikely]]
      validate_entry_slow_path();
  }
  [[gnu::noinline, gnu::cold]] void validate_entry_slow_path() const {
    const std::uint32_t call_id = plan_ ? composite_run_->call_id() : run_.call_id();
    state_.validate_entry_slow_path(name_of(call_.what).data(), &call_id);
  }
  [[gnu::always_inline]] bool test_here() {
    if (over()) return complete();
    where_.guarded([&] {
      // A program may test until other ranks have this rank's data.
      where_.rank_->progress_others(nullptr, true);
      if (!over()) state_.ep().pause(run().site("messages"));
    });
    return over() && complete();
  }
  [[gnu::always_inline]] void wait_here() {
    if (over()) return void(complete());
    where_.guarded([&] { where_.rank_->finish(run()); });
    auto& active = where_.rank_->active;
    active.erase(std::remove(active.begin(), active.end(), &run()), active.end());
    complete();
  }
  progressable& run() noexcept {
    return plan_ ? static_cast<progressable&>(*composite_run_) : static_cast<progressable&>(run_);
  }
  bool over() const noexcept { return plan_ ? composite_run_->is_complete() : run_.is_complete(); }
  bool complete() {
    if (packed_ && !ended_) packed_->unpack();
    ended_ = true;
    if (start_time_ != std::chrono::steady_clock::time_point{})
      where_.trace(call_, *prepared_, plan_.get(), true,
                   std::chrono::steady_clock::now() - std::exchange(start_time_, {}));
    return true;
  }
  void copy_arguments(const call& c) {
    if (c.in_types != nullptr || c.out_types != nullptr) {
      packed_ = std::make_unique<packed_blocks>(c);
      call_ = packed_->made();
    }
    copy_counts(call_.in_counts, in_counts_);
    copy_counts(call_.in_displs, in_displs_);
    copy_counts(call_.out_counts, out_counts_);
    copy_counts(call_.out_displs, out_displs_);
    call_ = with_displacements(state_, call_, in_displs_, out_displs_);
  }
  static void copy_counts(counts_view& view, std::vector<std::size_t>& storage) {
    if (!view.given()) return;
    storage.resize(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) storage[i] = view[i];
    view = counts_view(storage.data(), storage.size());
  }

  call_dispatcher& where_;
  communicator_state& state_;
  call call_;
  prepared_call* prepared_ = nullptr;
  std::vector<std::size_t> in_counts_, in_displs_, out_counts_, out_displs_;
  std::unique_ptr<packed_blocks> packed_;
  bool ended_ = true;                                 // no run, or its end was reported
  std::chrono::steady_clock::time_point start_time_;  // for the trace, while under way
  schedule_run run_;                                  // or, if the call is composed:
  std::shared_ptr<bound_composition> plan_;
  std::unique_ptr<composite_run> composite_run_;
};

/// An operation that serves the other ranks, and throws when it is complete.
class call_dispatcher::rejected_operation final : public pending {
 public:
  explicit rejected_operation(communicator_impl& self) : self_(self) {}

  void start() override {
    communicator_state& state = self_.state();
    state.validate_entry(name_of_call);
    if (announces && !in_progress_ && !state.was_freed())
      self_.calls().announce_rejection(announces->made, announces->zeros, announces->text);
    {
      // Its own rejection is announced.
      const deferred_rejections guard(state.this_rank().calls_that_defer_rejections);
      inner->start();
    }
    in_progress_ = true;
  }
  bool test() override {
    self_.state().validate_thread(name_of_call);
    const bool over = serve([&] { return inner->test(); });
    if (over) {
      in_progress_ = false;
      substitutes.rethrow_fault();
    }
    return over;
  }
  void wait() override {
    self_.state().validate_thread(name_of_call);
    serve([&] { return inner->wait(), true; });
    in_progress_ = false;
    substitutes.rethrow_fault();
  }
  // Its own error matters more than that of another rank.
  bool test_at_entry() override { return test(); }
  void wait_at_entry() override { wait(); }
  bool dismiss() noexcept override {
    if (!inner.reset()) return false;  // it continues in `substitutes`
    delete this;
    return true;
  }

  substitute_buffers substitutes;  // may be empty, if the caller has the error
  std::optional<planned_rejection> announces;
  const char* name_of_call = "";
  pending_call inner;

 private:
  ~rejected_operation() = default;

  // Returns whether it is over. The others may have failed because of the error that `substitutes`
  // stores.
  template <class Progress>
  bool serve(Progress&& progress) {
    const serving_peers guard(self_);
    try {
      return progress();
    } catch (...) {
      return true;
    }
  }

  communicator_impl& self_;
  bool in_progress_ = false;
};

call_dispatcher::~call_dispatcher() {
  for (const operation* one : idle_) delete one;
}

// A call that the cache contains is not validated nor selected again. `c` gets the loops of the
// library if they are faster.
prepared_call& call_dispatcher::find_for_operation(call& c, bool is_cached) {
  if (!is_cached) store_in_cache(c, find(c));
  cached_call& r = cache_.entry(c.what);
  if (r.kernel != nullptr) c.op.combine = r.kernel;
  return *r.prepared;
}

inline pending_call call_dispatcher::make_pending(const call& c, bool started) {
  if (!is_current_rank()) [[unlikely]]
    state_.reject_thread(name_of(c.what).data());
  const bool is_cached = cache_.contains(c);
  if (!is_cached) {
    try {
      validate(state_, c);
    } catch (const usage_error&) {
      return make_rejected(c, started);
    }
  }
  return make_valid(c, is_cached, started);
}

pending_call call_dispatcher::make_rejected(const call& c, bool started) {
  call substitute = c;
  owner<rejected_operation> made(new rejected_operation(self_));
  prepare_rejected(self_, state_, substitute, started ? mode::nonblocking : mode::persistent,
                   made->substitutes);
  made->name_of_call = name_of(c.what).data();
  made->inner = make_valid(substitute, false, started);
  made->slot = &rank_->current.place;
  return made;
}

pending_call call_dispatcher::make_valid(const call& c, bool is_cached, bool started) {
  // Whatever happens here, the next plan is another one.
  std::optional<planned_rejection> rejected;
  if (!started) rejected = std::exchange(next_plan_, std::nullopt);
  if (started && rank_->config.check) checked_mode_.compare(c);
  owner<operation> made = idle_or_new(idle_, max_idle, *this);
  made->prepare(c, is_cached);
  if (started) {
    made->begin();
    return made;
  }
  if (!rejected) return made;
  owner<rejected_operation> wrapped(new rejected_operation(self_));
  wrapped->announces = std::move(rejected);
  wrapped->name_of_call = name_of(c.what).data();
  wrapped->inner = std::move(made);
  wrapped->slot = &rank_->current.place;
  return wrapped;
}

// --- tutti/detail/abi.hpp

pending_call start_call(communicator_impl& c, const call& what) { return c.calls().make_pending(what, true); }
pending_call prepare_call(communicator_impl& c, const call& what) {
  return c.calls().make_pending(what, false);
}

}  // namespace tutti::detail
