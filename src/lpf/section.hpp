// SPDX-License-Identifier: Apache-2.0
//
// A section: the processes that run one function together, and the context of each.
#pragma once

#include "lpf/core.h"
#include "tutti/core/bsp.hpp"

namespace tutti {
class communicator;
}

namespace tutti::lpf {

/// What an lpf_t of a section points to.
struct context {
  communicator* world;
  bsp::process* process;
  bool said = false;   ///< why it has failed
  bool sited = false;  ///< the call that is being made has told where it is written
};

/// This rank's part of a section over all ranks of `world`: makes the context, calls spmd, and leaves the
/// section together with the others. Collective over `world`. LPF_ERR_FATAL where this process's context has
/// failed. What spmd throws passes.
lpf_err_t run_section(communicator& world, lpf_spmd_t spmd, const lpf_args_t& args);

/// Says of LPF_NONE and LPF_ROOT that they are no context of a section. Null.
context* refuse_context(lpf_t ctx, const char* operation) noexcept;

/// Null, and said, of what is no context of a section.
inline context* context_of(lpf_t ctx, const char* operation) noexcept {
  if (ctx != nullptr && ctx != LPF_ROOT) [[likely]]
    return static_cast<context*>(ctx);
  return refuse_context(ctx, operation);
}

/// The communicator of a context of a section.
communicator& world_of(lpf_t ctx) noexcept;

/// Where an exception is caught that a call on a context has thrown: says it, once a context, and returns the
/// code.
lpf_err_t code_of_exception(context& c, const char* operation) noexcept;

/// Calls something on the process of a context, that returns whether there was room for it.
template <class Call>
lpf_err_t carried(lpf_t ctx, const char* operation, Call&& what) noexcept {
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
    bsp::port::tell_site(*c->process, {});
    c->sited = false;
  }
  return end;
}

}  // namespace tutti::lpf
