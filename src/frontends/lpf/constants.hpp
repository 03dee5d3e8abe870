// SPDX-License-Identifier: Apache-2.0
//
// The object to which LPF_ROOT points. It is never the handle of a live context. So calls on
// LPF_ROOT take the path that makes its context first (root.hpp).
#pragma once

#include "frontends/lpf/section.hpp"

namespace tutti::lpf {

extern context context_of_root;

}  // namespace tutti::lpf
