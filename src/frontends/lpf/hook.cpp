// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_hook() and lpf_rehook(): sections of processes that exist already.
#include <cstring>
#include <optional>
#include <string>

#include "frontends/lpf/init.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "lpf/core.h"

namespace tutti::lpf {

lpf_err_t end_init(lpf_init_t init, const char* by) noexcept {
  init_object* object = object_of(init);
  if (object == nullptr) {
    report_error(by, -1, "init", "is LPF_INIT_NONE",
                 "pass an object that an initialize call created, and finalize it once");
    return LPF_ERR_FATAL;
  }
  if (std::strcmp(object->finalize_function(), by) != 0) {
    report_error(by, -1, "init", "was made by another kind of initialize call", object->finalize_function());
    return LPF_ERR_FATAL;
  }
  delete object;
  return LPF_SUCCESS;
}

}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_hook(lpf_init_t init, lpf_spmd_t spmd, lpf_args_t args) {
  if (init == nullptr || spmd == nullptr) {
    report_error("lpf_hook", -1, init == nullptr ? "init" : "spmd", "is null",
                 init == nullptr ? "create it with lpf/pthread.h or lpf/mpi.h" : "pass the function to run");
    return LPF_ERR_FATAL;
  }
  return object_of(init)->hook(spmd, args);
}

// An exception of spmd leaves the outer section too. This section reports its end to the other
// processes.
extern "C" lpf_err_t lpf_rehook(lpf_t ctx, lpf_spmd_t spmd, lpf_args_t args) {
  if (spmd == nullptr) {
    report_error("lpf_rehook", -1, "spmd", "is null", "pass the function to run");
    return LPF_ERR_FATAL;
  }
  context* const outer = context_of(ctx, "lpf_rehook");
  if (outer == nullptr) return LPF_ERR_FATAL;
  std::optional<nested_section> within;
  try {
    within.emplace(outer, "rehook");
  } catch (...) {
    return code_of_exception(*outer, "lpf_rehook");
  }
  return run_section(*outer->world, spmd, args, outer->counts, "lpf_rehook");
}
