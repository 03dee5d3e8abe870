// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_abort(): the engine ends all processes, because only it knows what they are.
#include "lpf/abort.h"

#include <cstdio>
#include <cstdlib>

#include "communicator/internal_calls.hpp"
#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/section.hpp"
#include "tutti/communicator.hpp"

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_abort(lpf_t ctx) {
  const char* why = "lpf_abort() was called";
  if (ctx != LPF_NONE && ctx != LPF_ROOT)
    if (const context* const c = context_of(ctx, "lpf_abort"))
      tutti::detail::endpoint_of(tutti::detail::impl_of(*c->world)).kill_job(why);
  if (launched_job* job = launched_job::current()) job->kill(why);
  std::fprintf(stderr, "tutti: %s\n", why);
  std::fflush(stderr);
  std::_Exit(1);
}
