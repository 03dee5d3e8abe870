// SPDX-License-Identifier: Apache-2.0
//
// The state of one message in progress.
#pragma once

#include <cstddef>

namespace tutti::detail {

/// A message in progress through an engine. Opaque to all others; a cached call does not allocate
/// it.
struct transfer {
  alignas(16) std::byte state[64];
};

}  // namespace tutti::detail
