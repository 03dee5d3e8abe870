// SPDX-License-Identifier: Apache-2.0
//
// Shared code of the BSPlib programs.
#pragma once

#include "layers.hpp"
#include "lpf/bsplib.h"

namespace layers {

/// An object that lives as long as a section.
struct bsp_program {
  bsp_program(lpf_t ctx, lpf_pid_t s, lpf_pid_t p, const lpf_args_t& args, int safe = 1, std::size_t hp = 8) {
    check_processes(s, p, args);
    CHECK_BSPLIB(bsplib_create(ctx, s, p, safe, hp, &b));
    CHECK(bsplib_pid(b) == s && bsplib_nprocs(b) == p);
  }
  ~bsp_program() {
    if (b != nullptr) CHECK_BSPLIB(bsplib_destroy(b));
  }
  bsp_program(const bsp_program&) = delete;
  void sync() { CHECK_BSPLIB(bsplib_sync(b)); }
  bsplib_t b = nullptr;
};

}  // namespace layers
