// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/current_rank.hpp"

namespace tutti::shm {

constinit thread_local const rank_identity* current_rank = nullptr;
constinit thread_local const rank_identity* rank_below_kernel = nullptr;

constinit const rank_identity in_kernel{};
constinit const rank_identity no_rank{}, ended{};

namespace {
constinit const rank_identity process{};
}

const rank_identity* set_current_process() noexcept {
  if (current_rank == nullptr) current_rank = &process;
  return current_rank;
}

}  // namespace tutti::shm
