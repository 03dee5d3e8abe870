// SPDX-License-Identifier: Apache-2.0
//
// The path of lpf/core.h when the program was compiled. C programs cannot pass it in run_options.
// So each of their files that includes the header defines it as a weak constant.
#pragma once

#include "lpf/core.h"

extern "C" __attribute__((weak)) const char tutti_lpf_header[];

namespace tutti::lpf {

/// For run_options::header. Null if the program does not export the constant to a shared library,
/// which knows its own folder.
inline const char* header_of_program() noexcept { return tutti_lpf_header; }

}  // namespace tutti::lpf
