// SPDX-License-Identifier: Apache-2.0
//
// Operations under way: nonblocking and persistent calls, and how a wait for one serves them all.
#include <algorithm>
#include <chrono>
#include <new>

#include "communicator/communicator_impl.hpp"
#include "communicator/dense_blocks.hpp"
#include "communicator/operations.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

// With nonblocking operations under way a wait serves them all.
void communicator_impl::finish(progressable& r) {
  std::uint64_t moves = r.moves();
  while (!r.go_on(false)) {
    serve_others(&r);
    if (r.moves() != moves) {
      moves = r.moves();
      ep().progressed();
    }
    ep().pause(r.site("messages"));
  }
  ep().progressed();
}

void rank_state::progress_others(const progressable* except, bool waits) {
  for (std::size_t i = 0; i < active.size();) {
    progressable* one = active[i];
    if (one == except) {
      ++i;
      continue;
    }
    const std::uint64_t before = one->moves();
    const bool over = one->go_on(false);
    if ((over || one->moves() != before) && ep != nullptr) ep->progressed();
    if (over) {
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (!waits) return;
  for (std::size_t i = 0; i < active.size(); ++i)
    if (active[i] != except) active[i]->work();
}

/// A nonblocking or persistent operation: its own run, and copies of what the caller may let go of. When it
/// is complete it waits for the next call, with the memory of its run.
class collective_operation final : public pending {
 public:
  explicit collective_operation(communicator_impl& where) : where_(where) {
    slot = where.call_site_slot::slot;
  }
  ~collective_operation() = default;
  collective_operation(const collective_operation&) = delete;
  collective_operation& operator=(const collective_operation&) = delete;

  /// Before the first start(). `is_cached`: is_in_cache() the last call.
  void prepare(const call& c, bool is_cached) {
    call_ = c;
    if (is_vector_form(c.what)) take_counts(c);
    prepared_ = &where_.found_for(call_, is_cached);
    if (prepared_->bound != nullptr) return;
    program_ = where_.plan(call_, *prepared_, false);
    if (!composite_run_) composite_run_ = std::make_unique<composite_run>();
  }

  // While an exception passes by, peers may never come: then what is under way gets a moment to end, not for
  // ever.
  bool dismiss() noexcept override {
    if (!where_.usable()) [[unlikely]] {
      const bool goes = where_.release_on_other_thread(!over(), name_of(call_.what).data());
      if (goes) delete this;
      return goes;
    }
    std::unique_ptr<collective_operation> self(this);
    end_use(*this, where_.ep(), name_of(call_.what).data(), where_.rank());
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), &run()), active.end());
    if (!over() || where_.idle_.size() == where_.idle_.capacity()) return true;
    dense_.reset();
    program_.reset();
    where_.idle_.push_back(self.release());
    return true;
  }

  void start() override {
    where_.check_thread(name_of(call_.what).data());
    if (where_.released_)
      where_.refuse(name_of(call_.what).data(), "communicator", "was freed", "start before free()");
    if (!over())
      where_.refuse(name_of(call_.what).data(), "", "is already in progress",
                    "wait() before the next start()");
    if (dense_) dense_->pack();
    unpacked_ = dense_ == nullptr;
    if (where_.shared_->trace) begun_ = std::chrono::steady_clock::now();
    const bool complete_already = where_.guarded([&] {
      if (program_)
        composite_run_->begin(*program_->bound, call_, where_.next_number_of_call());
      else
        run_.begin(*prepared_->bound, call_, where_.next_number_of_call());
      return run().go_on(false);
    });
    if (!complete_already) where_.shared_->add_active(run());
  }
  bool test() override {
    where_.check_thread(name_of(call_.what).data());
    if (over()) return complete();
    where_.guarded([&] {
      where_.serve_others(nullptr);  // a program may ask until others have what this rank owes them
      if (!over()) where_.ep().pause(run().site("messages"));
    });
    return over() && complete();
  }
  void wait() override {
    where_.check_thread(name_of(call_.what).data());
    if (over()) return void(complete());
    where_.guarded([&] { where_.finish(run()); });
    auto& active = where_.shared_->active;
    active.erase(std::remove(active.begin(), active.end(), &run()), active.end());
    complete();
  }

 private:
  progressable& run() noexcept {
    return program_ ? static_cast<progressable&>(*composite_run_) : static_cast<progressable&>(run_);
  }
  bool over() const noexcept { return program_ ? composite_run_->over() : run_.over(); }
  bool complete() {
    if (!unpacked_) dense_->unpack();
    unpacked_ = true;
    if (begun_ != std::chrono::steady_clock::time_point{})
      where_.note_call(call_, *prepared_, program_.get(), true,
                       std::chrono::steady_clock::now() - std::exchange(begun_, {}));
    return true;
  }
  void take_counts(const call& c) {
    if (c.in_types != nullptr || c.out_types != nullptr) {
      dense_ = std::make_unique<dense_blocks>(c);
      call_ = dense_->made();
    }
    copy_counts(call_.in_counts, in_counts_);
    copy_counts(call_.in_displs, in_displs_);
    copy_counts(call_.out_counts, out_counts_);
    copy_counts(call_.out_displs, out_displs_);
    call_ = where_.with_displacements(call_, in_displs_, out_displs_);
  }
  static void copy_counts(counts_view& view, std::vector<std::size_t>& kept) {
    if (!view.given()) return;
    kept.resize(view.size());
    for (std::size_t i = 0; i < view.size(); ++i) kept[i] = view[i];
    view = counts_view(kept.data(), kept.size());
  }

  communicator_impl& where_;
  call call_;
  communicator_impl::prepared* prepared_ = nullptr;
  std::vector<std::size_t> in_counts_, in_displs_, out_counts_, out_displs_;
  std::unique_ptr<dense_blocks> dense_;
  bool unpacked_ = true;
  std::chrono::steady_clock::time_point begun_;  // for the trace, while under way
  schedule_run run_;                             // or, where the call is composed:
  std::shared_ptr<communicator_impl::planned> program_;
  std::unique_ptr<composite_run> composite_run_;
};

/// One that serves the other ranks, and throws when it is complete.
class refused_operation final : public pending {
 public:
  explicit refused_operation(communicator_impl& where) : where_(where) {}

  void start() override { inner->start(); }
  bool test() override {
    const bool over = serve([&] { return inner->test(); });
    if (over) room.diagnose();
    return over;
  }
  void wait() override {
    serve([&] { return inner->wait(), true; });
    room.diagnose();
  }
  bool dismiss() noexcept override {
    if (!inner.reset()) return false;  // it goes on in `room`
    delete this;
    return true;
  }

  substitute_buffers room;
  pending_call inner;

 private:
  ~refused_operation() = default;

  // Whether it is over. The others may have failed because of the error that `room` keeps.
  template <class Go>
  bool serve(Go&& go) {
    const serving_others guard(where_);
    try {
      return go();
    } catch (...) {
      return true;
    }
  }

  communicator_impl& where_;
};

void* communicator_impl::operator new(std::size_t bytes, rank_state& shared) {
  if (shared.cores.empty()) return ::operator new(bytes);
  void* const memory = shared.cores.back();
  shared.cores.pop_back();
  return memory;
}

void* communicator_impl::operator new(std::size_t bytes) { return ::operator new(bytes); }
void communicator_impl::operator delete(void* memory, rank_state&) noexcept { ::operator delete(memory); }
void communicator_impl::operator delete(void* memory) noexcept { ::operator delete(memory); }

void communicator_impl::operator delete(communicator_impl* gone, std::destroying_delete_t) noexcept {
  gone->end_p2p();
  gone->unlink_alive();
  const std::shared_ptr<rank_state> shared = std::move(gone->shared_);
  gone->~communicator_impl();
  if (!shared->over() && shared->cores.size() < shared->cores.capacity())
    shared->cores.push_back(gone);
  else
    ::operator delete(gone);
}

communicator_impl::~communicator_impl() {
  for (const collective_operation* one : idle_) delete one;
  for (const idle_memory& one : idle_memory_) ::operator delete(one.at);
}

// The short way of blocking calls, for the others: a call like the last one is not checked nor chosen again.
// `c` is given the library's own loops where they are faster.
communicator_impl::prepared& communicator_impl::found_for(call& c, bool is_cached) {
  be_open();
  cached_call& r = cache_[static_cast<std::size_t>(c.what)];
  if (!is_cached) remember(c, find(c));
  if (r.kernel != nullptr) c.op.combine = r.kernel;
  return *r.found;
}

pending_call communicator_impl::make_pending(const call& c, bool started) {
  check_thread(name_of(c.what).data());
  const bool is_cached = is_in_cache(c, cache_[static_cast<std::size_t>(c.what)]);
  if (!is_cached) {
    try {
      validate(c);
    } catch (const usage_error&) {
      return make_refused(c, started);
    }
  }
  return make_right(c, is_cached, started);
}

pending_call communicator_impl::make_refused(const call& c, bool started) {
  call instead = c;
  owner<refused_operation> made(new refused_operation(*this));
  take_refused(instead, started ? mode::nonblocking : mode::persistent, made->room);
  made->inner = make_right(instead, false, started);
  made->slot = call_site_slot::slot;
  return made;
}

pending_call communicator_impl::make_right(const call& c, bool is_cached, bool started) {
  if (started && shared_->set.check) compare_with_others(&c);
  owner<collective_operation> made = idle_or_new(idle_, max_idle, *this);
  made->prepare(c, is_cached);
  if (started) made->start();
  return made;
}

// On another thread the call is about to be refused.
void* communicator_impl::acquire_memory(std::size_t bytes) {
  if (!usable()) [[unlikely]]
    return ::operator new(bytes);
  for (idle_memory& one : idle_memory_)
    if (one.bytes == bytes) {
      void* const found = one.at;
      one = idle_memory_.back();
      idle_memory_.pop_back();
      return found;
    }
  if (idle_memory_.capacity() == 0) idle_memory_.reserve(max_idle);
  return ::operator new(bytes);
}

void communicator_impl::release_memory(void* memory, std::size_t bytes) noexcept {
  if (idle_memory_.size() < idle_memory_.capacity() && usable())
    idle_memory_.push_back({bytes, memory});
  else
    ::operator delete(memory);
}

}  // namespace tutti::detail
