// SPDX-License-Identifier: Apache-2.0
//
// LPF_ROOT as a context of one process: operations that a program schedules outside of all
// sections.
#pragma once

#include "frontends/lpf/section.hpp"

namespace tutti::lpf {

/// The context of LPF_ROOT, made by the first call on it. It belongs to the thread that makes that
/// call. Returns null and reports an error in three cases: on another thread, while a section
/// (lpf_exec, lpf_hook) runs in this operating-system process, or if it cannot make the context.
context* root_context(const char* operation) noexcept;

}  // namespace tutti::lpf
