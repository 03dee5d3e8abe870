// SPDX-License-Identifier: Apache-2.0
//
// What LPF_ROOT points to. No handle is ever that of this context, so that calls on it take the way that
// makes it first (root.hpp).
#pragma once

#include "frontends/lpf/section.hpp"

namespace tutti::lpf {

extern context context_of_root;

}  // namespace tutti::lpf
