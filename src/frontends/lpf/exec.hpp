// SPDX-License-Identifier: Apache-2.0
//
// What lpf_exec() has to choose from.
#pragma once

#include "lpf/core.h"

namespace tutti::lpf {

/// How many processes lpf_exec() can use from LPF_ROOT. Throws usage_error where the variables that say so
/// are wrong.
lpf_pid_t free_processes();

/// What processes but the first are given.
lpf_args_t functions_of(const lpf_args_t& args) noexcept;

}  // namespace tutti::lpf
