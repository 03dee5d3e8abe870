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
  for (const begun_call* one : idle_) delete one;
}

begun_call& pending_calls::fresh() {
  if (idle_.empty()) return *new begun_call(*this, p_.types, p_.ops);
  begun_call* const one = idle_.back();
  idle_.pop_back();
  return *one;
}

// With several threads nothing is reused, because it would need a lock, and MPI may call this while
// it holds a lock.
void pending_calls::drop(begun_call& one) {
  constexpr std::size_t max_idle = 64;
  constexpr std::size_t max_kept = 64 * 1024;  // bytes
  if (p_.threads || idle_.size() == max_idle || one.translated.kept() > max_kept)
    delete &one;
  else
    idle_.push_back(&one);
}

int pending_calls::query(void* extra, MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = MPI_UNDEFINED;
  return static_cast<const begun_call*>(extra)->code;
}

// MPI calls it when the request is complete and the program has freed it, in either order. A
// request may outlive MPI_Finalize, and then also `pending_calls`.
int pending_calls::let_go(void* extra) {
  auto& one = *static_cast<begun_call*>(extra);
  if (one.code != MPI_SUCCESS) --failures_;
  if (running.load(std::memory_order_acquire) != nullptr) one.among.drop(one);
  return MPI_SUCCESS;
}

int pending_calls::cancel(void*, int) { return MPI_SUCCESS; }  // a collective cannot be cancelled

void pending_calls::begin(begun_call& one, std::shared_ptr<known_communicator> of, MPI_Request* request) {
  one.of = std::move(of);
  one.translated.hold();
  one.code = MPI_SUCCESS;
  if (p_.threads) one.by = std::this_thread::get_id();
  if (p_.told) one.began = std::chrono::steady_clock::now();
  PMPI_Grequest_start(&query, &let_go, &cancel, &one, &one.request);
  *request = one.request;
  const auto mine = p_.turn.take();
  const alone at_work(*this);
  try {
    const own_errors errors(p_);
    one.run = detail::start_call(*one.of->impl, one.translated.made());
  } catch (...) {
    return finish(one, failure_is_reported(one));
  }
  all_.push_back(&one);
  count();
}

void pending_calls::count() noexcept {
  const std::size_t compared = p_.compared ? p_.compared->pending_calls() : 0;
  communicator_table_in_use::begun.store(all_.size() + compared, std::memory_order_relaxed);
}

void pending_calls::go_on() {
  const auto mine = p_.turn.take();
  const alone at_work(*this);
  if (p_.compared) p_.compared->go_on();
  for (std::size_t i = 0; i < all_.size();) {
    begun_call& o = *all_[i];
    int code = MPI_SUCCESS;
    try {
      // The program's handlers are restored before an error is reported.
      const own_errors errors(p_);
      if (!o.run->test()) {
        ++i;
        continue;
      }
    } catch (...) {
      code = failure_is_reported(o);
    }
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(i));
    count();
    finish(o, code);
  }
}

// A generalized request belongs to no communicator, so MPI would call another error handler than
// the program expects.
int pending_calls::failure_is_reported(const begun_call& o) noexcept {
  ++failures_;
  return failed(p_.all.is_alive(*o.of) ? o.of->comm : MPI_COMM_WORLD);
}

void pending_calls::finish(begun_call& o, int code) {
  o.run.reset();
  const call& c = o.translated.made();
  if (p_.told)
    p_.told->add(c.what, true, detail::last_algorithm(*o.of->impl, c.what), detail::bytes_of(c, o.of->size),
                 std::chrono::steady_clock::now() - o.began);
  if (code == MPI_SUCCESS) o.translated.finish();
  o.translated.let_go();
  o.of.reset();
  o.code = code;
  PMPI_Grequest_complete(o.request);
}

void pending_calls::wait_all() {
  for (patience p; !none(); p.pause()) go_on();
}

// Whether this thread has pending calls; if `comm` is not null, on `comm`.
bool pending_calls::calls_left(MPI_Comm comm) {
  const auto mine = p_.turn.take();
  const auto me = p_.threads ? std::this_thread::get_id() : std::thread::id();
  return std::any_of(all_.begin(), all_.end(), [&](const begun_call* one) {
    return one->by == me && (comm == MPI_COMM_NULL || one->of->comm == comm);
  });
}

int pending_calls::beside(MPI_Comm comm, bool waits_for_all, int (*call)(void*), void* state) {
  if (!p_.ep->progresses_inside()) {
    if (waits_for_all)
      settle(comm);
    else
      go_on();
    return call(state);
  }
  struct preloaded_call {
    pending_calls& all;
    int (*call)(void*);
    void* state;
    int code;
  } one{*this, call, state, MPI_SUCCESS};
  p_.ep->wait_inside(
      *this,
      [](void* self) {
        auto& c = *static_cast<preloaded_call*>(self);
        mpi::mpi_endpoint& ep = *c.all.p_.ep;
        const bool inside = std::exchange(c.all.inside_, true);
        ep.in_collective(true);
        c.code = c.call(c.state);
        ep.in_collective(false);
        c.all.inside_ = inside;
      },
      &one);
  return one.code;
}

pending_calls::alone::alone(pending_calls& all) noexcept
    : all_(all), inside_(std::exchange(all.inside_, false)) {
  if (inside_) all_.p_.ep->in_collective(false);
}

pending_calls::alone::~alone() {
  all_.inside_ = inside_;
  if (inside_) all_.p_.ep->in_collective(true);
}

void pending_calls::settle(MPI_Comm comm) {
  // After one failed wait the next ones will probably fail too, so they are short.
  const std::chrono::milliseconds long_enough(said_ ? 10 : 10'000);
  const auto deadline = std::chrono::steady_clock::now() + long_enough;
  for (patience tries; calls_left(MPI_COMM_NULL); tries.pause()) {
    go_on();
    if (std::chrono::steady_clock::now() < deadline) continue;
    if (comm != MPI_COMM_NULL && calls_left(comm)) continue;
    if (!std::exchange(said_, true))
      std::fprintf(stderr,
                   "tutti preload: rank %d waited ten seconds for its own nonblocking collectives before it "
                   "entered a blocking call of MPI on another communicator, and now continues without them; "
                   "if the program depends on this order, leave the nonblocking collectives to MPI "
                   "(TUTTI_PRELOAD_NONBLOCKING=0, which is the default here)\n",
                   p_.ep->rank());
    return;
  }
}

void patience::pause() noexcept {
  if (++tries_ > 64) sched_yield();
}

}  // namespace tutti::preload
