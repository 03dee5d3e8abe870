// SPDX-License-Identifier: Apache-2.0
//
// A section: the processes that run one function together, and the context of each.
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

/// How many processes the machine of a section has, and how many lpf_exec() can use from within.
struct share {
  lpf_pid_t machine = 1, free = 1;
};

/// What an lpf_t of a section leads to. The memory of a context outlives its section and serves later ones,
/// so that a call on a context that has ended finds out. The low bits of a handle count the sections that the
/// memory has served.
struct alignas(64) context {
  std::atomic<lpf_t> handle = nullptr;  ///< null: no section uses it
  communicator* world = nullptr;
  bsp::process* process = nullptr;
  share of{};
  unsigned served = 0;
  bool said = false;   ///< why it has failed
  bool sited = false;  ///< the call that is being made has told where it is written
};
static_assert(sizeof(context) == 64);

/// This rank's part of a section over all ranks of `world`: makes the context, calls spmd, and leaves the
/// section together with the others. Collective over `world`. LPF_ERR_FATAL where a process's context has
/// failed by something else than that others left while it synced. What spmd throws passes. `operation`: the
/// call that makes the section, for reports. `innermost`, unless null, is this section's context while it
/// runs.
lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args, const share& of,
                      const char* operation, context** innermost = nullptr);

/// A section of all processes of `outer` within it, as long as this lives. Its making is collective, and
/// throws where others do something else. `call`: "rehook" or "hook". Does nothing if `outer` is null.
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

/// Whether arguments are null, or functions are, where their number says that there are some; says so. Input
/// and output are looked at in checked mode only.
bool lacks_arguments(const lpf_args_t& args, const char* operation, int process) noexcept;

/// How many sections run in this process.
int sections_running() noexcept;

/// The context of LPF_ROOT, where no section runs in this process; else null, and says what `ctx` is instead
/// of a context.
context* other_context(lpf_t ctx, const char* operation) noexcept;

/// The context of a section that runs; else null.
inline context* live_context(lpf_t ctx) noexcept {
  constexpr auto counted = ~static_cast<std::uintptr_t>(alignof(context) - 1);
  auto* const c = reinterpret_cast<context*>(reinterpret_cast<std::uintptr_t>(ctx) & counted);
  return c != nullptr && c->handle.load(std::memory_order_relaxed) == ctx ? c : nullptr;
}

/// The context; null, and reported, of what is none, or has ended.
inline context* context_of(lpf_t ctx, const char* operation) noexcept {
  context* const c = live_context(ctx);
  return c != nullptr ? c : other_context(ctx, operation);
}

/// Where an exception is caught that a call on a context has thrown: says it, once a context and unless another
/// process does, and returns the code.
lpf_err_t code_of_exception(context& c, const char* operation) noexcept;

/// Calls something on the process of a context, that returns whether there was room for it.
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
  if (c->sited) [[unlikely]] {  // another call may come from where nothing is told
    bsp::abi::report_site(*c->process, {});
    c->sited = false;
  }
  return end;
}

}  // namespace tutti::lpf
