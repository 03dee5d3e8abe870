// SPDX-License-Identifier: Apache-2.0
//
// The common part of the entry points: tutti serves a call of the program, or forwards it to MPI
// and counts it.
#pragma once

#include <type_traits>

#include "frontends/preload/pending_calls.hpp"
#include "frontends/preload/preload_process.hpp"
#include "frontends/preload/serve.hpp"

namespace tutti::preload {

// The state of this process. Null if the call goes to MPI at once: no such state exists, or tutti
// neither serves the communicator nor counts its calls.
inline process* serving_process(const arguments& a) noexcept {
  process* const p = current();
  const communicator_info* m = communicator_cache::slot_of(a.comm).load(std::memory_order_acquire);
  return p == nullptr || (m != nullptr && m->comm == a.comm && !m->served && !p->stats) ? nullptr : p;
}

/// Called before a blocking MPI collective that tutti does not serve. In checked mode it compares
/// the call with those of the other ranks. If the ranks differ, it returns an MPI error code. The
/// entry point must then return that code and not make the call.
inline std::optional<int> compare_call(MPI_Comm comm, const char* call) {
  process* const p = current();
  if (p == nullptr || !p->comparison) [[likely]]
    return {};
  return p->comparison->compare(comm, call);
}

/// The same for a nonblocking call.
inline std::optional<int> compare_nonblocking_call(MPI_Comm comm, const char* call) {
  process* const p = current();
  if (p == nullptr || !p->comparison) [[likely]]
    return {};
  return p->comparison->compare(comm, call, true);
}

/// Makes a blocking MPI call of any kind. `comm` is the communicator whose ranks all make the call.
/// It is MPI_COMM_NULL if the call uses no communicator, or if not all ranks make it.
/// `waits_for_all` has the meaning that it has in pending_calls::call_blocking().
template <class Real>
int forward_to_mpi(MPI_Comm comm, Real&& mpi_call, bool waits_for_all = true) {
  process* const p = current();
  if (p == nullptr || pending_calls::empty()) [[likely]]
    return mpi_call();
  return p->pending->call_blocking(
      comm, waits_for_all, [](void* call) { return (*static_cast<std::remove_reference_t<Real>*>(call))(); },
      &mpi_call);
}

/// Completes tutti's pending calls on `comm` (pending_calls::drain). Called before an MPI call that
/// waits for other jobs, in which tutti cannot progress.
inline void drain_pending(MPI_Comm comm) {
  process* const p = current();
  if (p != nullptr && !pending_calls::empty()) p->pending->drain(comm);
}

template <class Real>
int blocking(const arguments& a, Real mpi_call) {
  if (process* const p = serving_process(a)) {
    if (p->comparison) [[unlikely]]
      if (const std::optional<int> code = p->comparison->compare(a, false)) return *code;
    if (const std::optional<int> code = serve(*p, a)) return *code;
    const forwarded_call counted(p, a, false);
    return forward_to_mpi(a.comm, mpi_call);
  }
  return forward_to_mpi(a.comm, mpi_call);
}

template <class Real>
int nonblocking(const arguments& a, MPI_Request* request, Real mpi_call) {
  process* const p = serving_process(a);
  if (p == nullptr) return mpi_call();
  if (p->comparison) [[unlikely]]
    if (const std::optional<int> code = p->comparison->compare(a, true)) return *code;
  if (const std::optional<int> code = serve_nonblocking(*p, a, request)) return *code;
  const forwarded_call counted(p, a, true);
  return mpi_call();
}

}  // namespace tutti::preload
