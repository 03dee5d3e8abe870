// SPDX-License-Identifier: Apache-2.0
//
// Where the program found lpf/core.h when it was compiled. C programs cannot hand this over by run_options,
// so each file of theirs that includes the header has it as a weak constant.
#pragma once

#include "lpf/core.h"

extern "C" __attribute__((weak)) const char tutti_lpf_header[];

namespace tutti::lpf {

/// For run_options::header. Null if the program does not show the constant to a shared library, which knows
/// its own folder.
inline const char* header_of_program() noexcept { return tutti_lpf_header; }

}  // namespace tutti::lpf
