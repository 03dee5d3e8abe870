// SPDX-License-Identifier: Apache-2.0
//
// What is wrong goes to standard error, since the codes of the C interface say little.
#pragma once

#include <exception>
#include <string>

#include "lpf/core.h"

namespace tutti::lpf {

/// "tutti: lpf_exec: argument P: is 0 (remedy: ask for one process or more)". `process` below 0: none is
/// meant; `argument` may be empty.
void report_error(const char* operation, int process, const char* argument, const std::string& problem,
                  const char* remedy) noexcept;

/// To be called where an exception is caught: says what it says, and returns LPF_ERR_OUT_OF_MEMORY for one
/// that there was no memory, or no thread, else LPF_ERR_FATAL.
lpf_err_t report_exception(const char* operation) noexcept;

}  // namespace tutti::lpf
