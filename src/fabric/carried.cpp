// SPDX-License-Identifier: Apache-2.0
#include "fabric/carried.hpp"

namespace tutti::fabric {

constinit thread_local const carried_rank* carried = nullptr;
constinit thread_local const carried_rank* beneath_kernel = nullptr;

constinit const carried_rank in_kernel{};
constinit const carried_rank nobodys{}, ended{};

namespace {
constinit const carried_rank process{};
}

const carried_rank* carry_process() noexcept {
  if (carried == nullptr) carried = &process;
  return carried;
}

}  // namespace tutti::fabric
