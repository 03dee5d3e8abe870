// SPDX-License-Identifier: Apache-2.0
//
// Reports errors on standard error, because the codes of the C interface have little information.
#pragma once

#include <exception>
#include <string>

#include "lpf/core.h"
#include "tutti/detail/export.hpp"

namespace tutti::lpf {

/// Prints the text of a usage_error: "tutti: lpf_exec: P: is 0; request one process or more, or
/// LPF_MAX_P". If `process` is not negative, the text names it as the rank. `argument` may be
/// empty.
TUTTI_API void report_error(const char* operation, int process, const char* argument,
                            const std::string& problem, const char* remedy) noexcept;

/// Must be called in a catch block. Reports the exception. Returns LPF_ERR_OUT_OF_MEMORY if there
/// was no memory or no thread, else LPF_ERR_FATAL.
TUTTI_API lpf_err_t report_exception(const char* operation) noexcept;

}  // namespace tutti::lpf
