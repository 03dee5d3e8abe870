// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tutti::tool {

/// docs/parameters.md: every named parameter and every call; a test compares.
std::string parameters_document();

}  // namespace tutti::tool
