// SPDX-License-Identifier: Apache-2.0
//
// What an lpf_init_t points to: how threads or processes that exist come to a section.
#pragma once

#include "lpf/core.h"

namespace tutti::lpf {

class init_object {
 public:
  init_object() = default;
  init_object(const init_object&) = delete;
  init_object& operator=(const init_object&) = delete;
  virtual ~init_object() = default;

  /// This member's part of a section over all of them. Collective. Nothing is thrown: what fails is said.
  virtual lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept = 0;
  /// Whose it is, since each kind has a finalize of its own: "lpf_pthread_finalize".
  virtual const char* ended_by() const noexcept = 0;
};

/// The object of an lpf_init_t; null of LPF_INIT_NONE.
inline init_object* object_of(lpf_init_t init) noexcept { return static_cast<init_object*>(init); }

/// Ends an object by the function `by`. LPF_ERR_FATAL, said, where there is none or another function ends it.
lpf_err_t end_init(lpf_init_t init, const char* by) noexcept;

}  // namespace tutti::lpf
