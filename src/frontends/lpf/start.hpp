// SPDX-License-Identifier: Apache-2.0
//
// The hook before main(). The build compiles start_static.cpp or start_shared.cpp, depending on how
// the library is linked.
#pragma once

namespace tutti::lpf {

/// lpf_exec() refers to it, so that the linker takes the hook from a static library. Returns true
/// if the hook was called.
bool start_was_hooked() noexcept;

}  // namespace tutti::lpf
