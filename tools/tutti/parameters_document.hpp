// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti::tool {

/// Returns docs/parameters.md: every named parameter and every call. A test compares the file with
/// it.
std::string parameters_document();

}  // namespace tutti::tool
