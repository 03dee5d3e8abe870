// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace tutti {

/// A message under way through an engine. Opaque, never allocated on the warm path.
struct transfer {
  alignas(16) std::byte state[64];
};

}  // namespace tutti
