// SPDX-License-Identifier: Apache-2.0
//
// The processes and arguments of lpf_exec().
#pragma once

#include "lpf/core.h"

namespace tutti::lpf {

/// The number of processes that lpf_exec() can use from LPF_ROOT. Throws usage_error if the
/// variables that state it are invalid.
lpf_pid_t free_processes();

/// The arguments of all processes except the first.
lpf_args_t functions_of(const lpf_args_t& args) noexcept;

}  // namespace tutti::lpf
