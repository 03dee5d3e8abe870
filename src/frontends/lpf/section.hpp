// SPDX-License-Identifier: Apache-2.0
//
// A section: the processes that run one function together, and the context of each process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lpf/core.h"
#include "tutti/detail/bsp_abi.hpp"

namespace tutti {
class communicator;
}

namespace tutti::lpf {

/// The number of processes of the machine of a section, and the number that lpf_exec() can use
/// inside it.
struct share {
  lpf_pid_t machine = 1, free = 1;
};

/// The object behind the lpf_t of a section. Its memory outlives the section and serves later ones,
/// so calls on an ended context are detected. The low bits of a handle count the sections that the
/// memory has served.
struct alignas(64) context {
  std::atomic<lpf_t> handle = nullptr;  ///< null: no section uses it
  communicator* world = nullptr;
  bsp::process* process = nullptr;
  share of{};
  unsigned served = 0;
  bool said = false;   ///< its failure was reported
  bool sited = false;  ///< the current call has set its location
};
static_assert(sizeof(context) == 64);

/// Runs this rank's part of a section over all ranks of `world`. It makes the context, calls spmd,
/// and leaves the section together with the others. Collective over `world`. Returns LPF_ERR_FATAL
/// if a process's context has failed, unless the others left while it synced. Exceptions of spmd
/// pass. `operation`: the call that makes the section, for reports. `innermost`, unless null,
/// points to this section's context while it runs.
lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args, const share& of,
                      const char* operation, context** innermost = nullptr);

/// A section of all processes of `outer` within it, for the lifetime of this object. The
/// constructor is collective, and throws if other processes do something else. `call`: "rehook" or
/// "hook". No effect if `outer` is null.
class nested_section {
 public:
  nested_section(context* outer, const char* call) : outer_(outer) {
    if (outer_ != nullptr) bsp::abi::begin_nested(*outer_->process, call);
  }
  nested_section(const nested_section&) = delete;
  ~nested_section() {
    if (outer_ != nullptr) bsp::abi::end_nested(*outer_->process);
  }

 private:
  context* outer_;
};

/// Whether pointers in `args` are null although their sizes are not 0; reports it. Input and output
/// are examined in checked mode only.
bool lacks_arguments(const lpf_args_t& args, const char* operation, int process) noexcept;

/// The number of sections that run in this process.
int sections_running() noexcept;

/// The context of LPF_ROOT, if no section runs in this process. Otherwise returns null and reports
/// what `ctx` is.
context* other_context(lpf_t ctx, const char* operation) noexcept;

/// The context of a running section; else null.
inline context* live_context(lpf_t ctx) noexcept {
  constexpr auto counted = ~static_cast<std::uintptr_t>(alignof(context) - 1);
  auto* const c = reinterpret_cast<context*>(reinterpret_cast<std::uintptr_t>(ctx) & counted);
  return c != nullptr && c->handle.load(std::memory_order_relaxed) == ctx ? c : nullptr;
}

/// The context. Returns null and reports an error if `ctx` is no context or has ended.
inline context* context_of(lpf_t ctx, const char* operation) noexcept {
  context* const c = live_context(ctx);
  return c != nullptr ? c : other_context(ctx, operation);
}

/// Call it in a catch block around a call on a context. Reports the exception, once for a context
/// and unless another process reports it. Returns the error code.
lpf_err_t code_of_exception(context& c, const char* operation) noexcept;

/// Calls `what` with the process of a context. `what` returns false if there was no room.
template <class Call>
lpf_err_t runs_this_process(lpf_t ctx, const char* operation, Call&& what) noexcept {
  context* const c = context_of(ctx, operation);
  if (c == nullptr) [[unlikely]]
    return LPF_ERR_FATAL;
  lpf_err_t end;
  try {
    end = what(*c->process) ? LPF_SUCCESS : LPF_ERR_OUT_OF_MEMORY;
  } catch (...) {
    end = code_of_exception(*c, operation);
  }
  if (c->sited) [[unlikely]] {  // the next call may have no location
    bsp::abi::report_site(*c->process, {});
    c->sited = false;
  }
  return end;
}

}  // namespace tutti::lpf
