// SPDX-License-Identifier: Apache-2.0
//
// What the entry points share: tutti serves a call of the program, or the call is forwarded to MPI
// and counted.
#pragma once

#include <type_traits>

#include "frontends/preload/pending_calls.hpp"
#include "frontends/preload/preload_process.hpp"
#include "frontends/preload/serve.hpp"

namespace tutti::preload {

// Communicators that tutti does not serve at all are recognized before any other look-up.
inline process* serving(const arguments& a) noexcept {
  process* const p = running.load(std::memory_order_acquire);
  const known_communicator* m = communicator_table_in_use::place_of(a.comm).load(std::memory_order_acquire);
  return p == nullptr || (m != nullptr && m->comm == a.comm && !m->served && !p->told) ? nullptr : p;
}

/// Called before a blocking MPI collective. In checked mode it compares the call. If it returns a
/// value, the entry point must return that value and not make the call.
inline std::optional<int> enter(MPI_Comm comm, const char* call) {
  process* const p = running.load(std::memory_order_acquire);
  if (p == nullptr || !p->compared) [[likely]]
    return {};
  return p->compared->compare(comm, call);
}

/// The same for a nonblocking call.
inline std::optional<int> enter_nonblocking(MPI_Comm comm, const char* call) {
  process* const p = running.load(std::memory_order_acquire);
  if (p == nullptr || !p->compared) [[likely]]
    return {};
  return p->compared->compare(comm, call, true);
}

/// Makes a blocking MPI call of any kind. `comm`: the communicator whose ranks all make it. Null:
/// the call uses no communicator, or not all ranks make it. `waits_for_all`: as in
/// pending_calls::beside().
template <class Real>
int left_to_mpi(MPI_Comm comm, Real&& preloaded_call, bool waits_for_all = true) {
  process* const p = running.load(std::memory_order_acquire);
  if (p == nullptr || pending_calls::none()) [[likely]]
    return preloaded_call();
  return p->begun->beside(
      comm, waits_for_all, [](void* call) { return (*static_cast<std::remove_reference_t<Real>*>(call))(); },
      &preloaded_call);
}

/// Called before an MPI call that waits for other jobs. In such a call no MPI progresses anything
/// of this process.
inline void settle_before(MPI_Comm comm) {
  process* const p = running.load(std::memory_order_acquire);
  if (p != nullptr && !pending_calls::none()) p->begun->settle(comm);
}

template <class Real>
int blocking(const arguments& a, Real preloaded_call) {
  if (process* const p = serving(a)) {
    if (p->compared) [[unlikely]]
      if (const std::optional<int> code = p->compared->compare(a, false)) return *code;
    if (const std::optional<int> code = serve(*p, a)) return *code;
    const passed_call told(p, a, false);
    return left_to_mpi(a.comm, preloaded_call);
  }
  return left_to_mpi(a.comm, preloaded_call);
}

template <class Real>
int nonblocking(const arguments& a, MPI_Request* request, Real preloaded_call) {
  process* const p = serving(a);
  if (p == nullptr) return preloaded_call();
  if (p->compared) [[unlikely]]
    if (const std::optional<int> code = p->compared->compare(a, true)) return *code;
  if (const std::optional<int> code = serve_begun(*p, a, request)) return *code;
  const passed_call told(p, a, true);
  return preloaded_call();
}

}  // namespace tutti::preload
