// SPDX-License-Identifier: Apache-2.0
//
// A section: the processes that run one function together, and the context of each process.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "lpf/core.h"
#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/export.hpp"

namespace tutti {
class communicator;
}

namespace tutti::lpf {

/// The counts that lpf_probe() reports inside a section: the processes of the machine, and those of
/// them that lpf_exec() can use.
struct process_counts {
  lpf_pid_t machine = 1, free = 1;  ///< p and free_p of lpf_machine_t
};

/// The object behind the lpf_t of a section. Later sections reuse the object, and its memory is
/// never freed, so calls on an ended context are detected. The low bits of a handle are a
/// generation: they count the sections that have used the object.
struct alignas(64) context {
  std::atomic<lpf_t> handle = nullptr;  ///< null: no section uses it
  communicator* world = nullptr;
  bsp::process* process = nullptr;
  process_counts counts{};
  unsigned generation = 0;
  bool failure_reported = false;
  bool has_call_site = false;  ///< the current call has set its location
};
static_assert(sizeof(context) == 64);

/// Runs this rank's part of a section over all ranks of `world`. It makes the context, calls spmd,
/// and leaves the section together with the others. Collective over `world`. Returns LPF_ERR_FATAL
/// if a process's context has failed, unless the others left while it synced. Throws the exceptions
/// of spmd. `operation`: the call that makes the section, for reports. If `innermost` is not null,
/// it points to this section's context while the section runs.
TUTTI_API lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args,
                                const process_counts& counts, const char* operation,
                                context** innermost = nullptr);

/// While this object exists, all processes of the section of `outer` run another section inside it.
/// The constructor is collective, and throws if another process makes another call. `call`:
/// "rehook" or "hook". No effect if `outer` is null.
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

/// Returns true and reports an error if a pointer in `args` is null and its size is not 0. Input
/// and output are examined in checked mode only.
bool has_null_arguments(const lpf_args_t& args, const char* operation, int process) noexcept;

/// The number of sections that run in this process.
int running_section_count() noexcept;

/// Returns the context of LPF_ROOT if `ctx` is LPF_ROOT and no section runs in this process.
/// Otherwise returns null and reports an error.
context* root_context_or_null(lpf_t ctx, const char* operation) noexcept;

/// The context of a running section. Returns null if `ctx` is not one.
inline context* live_context(lpf_t ctx) noexcept {
  constexpr auto address_mask = ~static_cast<std::uintptr_t>(alignof(context) - 1);
  auto* const c = reinterpret_cast<context*>(reinterpret_cast<std::uintptr_t>(ctx) & address_mask);
  return c != nullptr && c->handle.load(std::memory_order_relaxed) == ctx ? c : nullptr;
}

/// The context of `ctx`. Returns null and reports an error if `ctx` is not a context or its section
/// has ended.
inline context* context_of(lpf_t ctx, const char* operation) noexcept {
  context* const c = live_context(ctx);
  return c != nullptr ? c : root_context_or_null(ctx, operation);
}

/// Must be called in a catch block. Returns the error code of the exception. Reports the exception,
/// unless this context or another process has already reported the failure.
TUTTI_API lpf_err_t code_of_exception(context& c, const char* operation) noexcept;

/// Calls `call` with the BSP process of a context. `call` returns false if the capacity reserved
/// with lpf_resize_*() is used up.
template <class Call>
lpf_err_t call_process(lpf_t ctx, const char* operation, Call&& call) noexcept {
  context* const c = context_of(ctx, operation);
  if (c == nullptr) [[unlikely]]
    return LPF_ERR_FATAL;
  lpf_err_t end;
  try {
    end = call(*c->process) ? LPF_SUCCESS : LPF_ERR_OUT_OF_MEMORY;
  } catch (...) {
    end = code_of_exception(*c, operation);
  }
  if (c->has_call_site) [[unlikely]] {  // the next call may have no location
    bsp::abi::set_call_site(*c->process, {});
    c->has_call_site = false;
  }
  return end;
}

}  // namespace tutti::lpf
