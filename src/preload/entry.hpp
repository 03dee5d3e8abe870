// SPDX-License-Identifier: Apache-2.0
//
// What the entry points share: a call of the program's is served by tutti, or left to MPI and counted.
#pragma once

#include "preload/process.hpp"
#include "preload/serve.hpp"

namespace tutti::preload {

template <class Own>
[[gnu::noinline]] int blocking(process& p, const arguments& a, Own own_call) {
  if (const std::optional<int> code = serve(p, a)) return *code;
  const passed_call told(&p, a, false);
  return own_call();
}

template <class Own>
[[gnu::noinline]] int nonblocking(process& p, const arguments& a, MPI_Request* request, Own own_call) {
  if (const std::optional<int> code = serve_begun(p, a, request)) return *code;
  const passed_call told(&p, a, true);
  return own_call();
}

}  // namespace tutti::preload
