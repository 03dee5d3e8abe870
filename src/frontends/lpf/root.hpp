// SPDX-License-Identifier: Apache-2.0
//
// LPF_ROOT as a context of one process: what a program schedules outside of all sections.
#pragma once

#include "frontends/lpf/section.hpp"

namespace tutti::lpf {

/// The context of LPF_ROOT, made with the first call on it. It belongs to the thread that makes that call.
/// Null, and reported, on other threads, while a section runs in this process, and if it cannot be made.
context* root_context(const char* operation) noexcept;

}  // namespace tutti::lpf
