// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/pending_calls.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <sched.h>

#include "frontends/preload/preload_process.hpp"
#include "frontends/preload/serve.hpp"
#include "runtime/trace/trace.hpp"

namespace tutti::preload {

pending_calls::~pending_calls() {
  for (const nonblocking_call* one : free_list_) delete one;
}

nonblocking_call& pending_calls::acquire() {
  if (free_list_.empty()) return *new nonblocking_call(*this, p_.types, p_.ops);
  nonblocking_call* const one = free_list_.back();
  free_list_.pop_back();
  return *one;
}

// With several threads nothing is reused, because it would need a lock, and MPI may call this while
// it holds a lock.
void pending_calls::recycle(nonblocking_call& one) {
  constexpr std::size_t max_free = 64;
  constexpr std::size_t max_capacity = 64 * 1024;  // bytes
  if (p_.multithreaded || free_list_.size() == max_free || one.translated.capacity() > max_capacity)
    delete &one;
  else
    free_list_.push_back(&one);
}

int pending_calls::query(void* extra, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const nonblocking_call*>(extra)->code;
}

// MPI calls it when the request is complete and the program has freed it, in either order. A
// request may outlive MPI_Finalize, and then also `pending_calls`.
int pending_calls::free_request(void* extra) {
  auto& one = *static_cast<nonblocking_call*>(extra);
  if (one.code != MPI_SUCCESS) --failures_;
  if (current() != nullptr) one.owner.recycle(one);
  return MPI_SUCCESS;
}

int pending_calls::cancel(void*, int) { return MPI_SUCCESS; }  // a collective cannot be cancelled

void pending_calls::begin(nonblocking_call& one, std::shared_ptr<communicator_info> m, MPI_Request* request) {
  one.communicator = std::move(m);
  one.translated.retain();
  one.code = MPI_SUCCESS;
  if (p_.multithreaded) one.thread = std::this_thread::get_id();
  if (p_.stats) one.began = std::chrono::steady_clock::now();
  PMPI_Grequest_start(&query, &free_request, &cancel, &one, &one.request);
  *request = one.request;
  const auto held = p_.mutex.lock();
  const progress_blocker guard(*this);
  try {
    const internal_errors errors(p_);
    one.run = detail::start_call(*one.communicator->impl, one.translated.result());
  } catch (...) {
    return finish(one, report_failure(one));
  }
  all_.push_back(&one);
  publish_count();
}

void pending_calls::publish_count() noexcept {
  const std::size_t compared = p_.comparison ? p_.comparison->pending() : 0;
  communicator_cache::pending.store(all_.size() + compared, std::memory_order_relaxed);
}

void pending_calls::progress() {
  const auto held = p_.mutex.lock();
  const progress_blocker guard(*this);
  if (p_.comparison) p_.comparison->progress();
  for (std::size_t i = 0; i < all_.size();) {
    nonblocking_call& o = *all_[i];
    int code = MPI_SUCCESS;
    try {
      // The program's handlers are restored before an error is reported.
      const internal_errors errors(p_);
      if (!o.run->test()) {
        ++i;
        continue;
      }
    } catch (...) {
      code = report_failure(o);
    }
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    publish_count();
    finish(o, code);
  }
}

// A generalized request belongs to no communicator, so MPI would call another error handler than
// the program expects.
int pending_calls::report_failure(const nonblocking_call& o) noexcept {
  ++failures_;
  return report_exception(p_.communicators.is_alive(*o.communicator) ? o.communicator->comm : MPI_COMM_WORLD);
}

void pending_calls::finish(nonblocking_call& o, int code) {
  o.run.reset();
  const call& c = o.translated.result();
  if (p_.stats)
    p_.stats->add(c.what, true, detail::last_algorithm(*o.communicator->impl, c.what),
                  detail::bytes_of(c, o.communicator->size), std::chrono::steady_clock::now() - o.began);
  if (code == MPI_SUCCESS) o.translated.finish();
  o.translated.release();
  o.communicator.reset();
  o.code = code;
  PMPI_Grequest_complete(o.request);
}

void pending_calls::wait_all() {
  for (backoff p; !empty(); p.pause()) progress();
}

// Whether this thread has pending calls; if `comm` is not null, on `comm`.
bool pending_calls::has_pending(MPI_Comm comm) {
  const auto held = p_.mutex.lock();
  const auto me = p_.multithreaded ? std::this_thread::get_id() : std::thread::id();
  return std::any_of(all_.begin(), all_.end(), [&](const nonblocking_call* one) {
    return one->thread == me && (comm == MPI_COMM_NULL || one->communicator->comm == comm);
  });
}

int pending_calls::call_blocking(MPI_Comm comm, bool waits_for_all, int (*call)(void*), void* state) {
  if (!p_.ep->progresses_in_waits()) {
    if (waits_for_all)
      drain(comm);
    else
      progress();
    return call(state);
  }
  struct mpi_call {
    pending_calls& all;
    int (*call)(void*);
    void* state;
    int code;
  } one{*this, call, state, MPI_SUCCESS};
  p_.ep->wait_with_progress(
      *this,
      [](void* self) {
        auto& c = *static_cast<mpi_call*>(self);
        mpi::mpi_endpoint& ep = *c.all.p_.ep;
        const bool inside = std::exchange(c.all.inside_mpi_, true);
        ep.enter_collective();
        c.code = c.call(c.state);
        ep.leave_collective();
        c.all.inside_mpi_ = inside;
      },
      &one);
  return one.code;
}

pending_calls::progress_blocker::progress_blocker(pending_calls& all) noexcept
    : all_(all), inside_mpi_(std::exchange(all.inside_mpi_, false)) {
  if (inside_mpi_) all_.p_.ep->leave_collective();
}

pending_calls::progress_blocker::~progress_blocker() {
  all_.inside_mpi_ = inside_mpi_;
  if (inside_mpi_) all_.p_.ep->enter_collective();
}

void pending_calls::drain(MPI_Comm comm) {
  // After one failed wait the next ones will probably fail too, so they are short.
  const std::chrono::milliseconds long_enough(warned_ ? 10 : 10'000);
  const auto deadline = std::chrono::steady_clock::now() + long_enough;
  for (backoff tries; has_pending(MPI_COMM_NULL); tries.pause()) {
    progress();
    if (std::chrono::steady_clock::now() < deadline) continue;
    if (comm != MPI_COMM_NULL && has_pending(comm)) continue;
    if (!std::exchange(warned_, true))
      std::fprintf(stderr,
                   "tutti preload: rank %d waited ten seconds for its own nonblocking collectives before it "
                   "entered a blocking call of MPI on another communicator, and now continues without them; "
                   "if the program depends on this order, leave the nonblocking collectives to MPI "
                   "(TUTTI_PRELOAD_NONBLOCKING=0, which is the default here)\n",
                   p_.ep->rank());
    return;
  }
}

void backoff::pause() noexcept {
  if (++tries_ > 64) sched_yield();
}

}  // namespace tutti::preload
