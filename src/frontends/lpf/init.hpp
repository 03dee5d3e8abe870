// SPDX-License-Identifier: Apache-2.0
//
// The object behind an lpf_init_t: how existing threads or processes enter a section.
#pragma once

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

namespace tutti::lpf {

class init_object {
 public:
  init_object() = default;
  init_object(const init_object&) = delete;
  init_object& operator=(const init_object&) = delete;
  virtual ~init_object() = default;

  /// Runs this member's part of a section over all members. Collective. Does not throw; it reports
  /// errors.
  virtual lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept = 0;
  /// The finalize function of this kind of object: "lpf_pthread_finalize".
  virtual const char* finalize_function() const noexcept = 0;
};

/// The object of an lpf_init_t; null for LPF_INIT_NONE.
inline init_object* object_of(lpf_init_t init) noexcept { return static_cast<init_object*>(init); }

/// Destroys an object by the function `by`. Reports an error and returns LPF_ERR_FATAL if there is
/// none, or if another function must end it.
TUTTI_API lpf_err_t end_init(lpf_init_t init, const char* by) noexcept;

}  // namespace tutti::lpf
