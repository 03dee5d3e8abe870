// SPDX-License-Identifier: Apache-2.0
//
// The hook before main(). start_static.cpp and start_shared.cpp are the two ways there: one is compiled, as
// the library is linked.
#pragma once

namespace tutti::lpf {

/// What lpf_exec() refers to, so that the linker takes the hook out of a static library. True where it has
/// been called.
bool start_was_hooked() noexcept;

}  // namespace tutti::lpf
