// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/current_rank.hpp"

namespace tutti::shm {

constinit thread_local const rank_identity* current_rank = nullptr;
constinit thread_local const rank_identity* rank_outside_kernel = nullptr;

constinit const rank_identity kernel_identity{};
constinit const rank_identity no_rank{}, ended_run_identity{}, rejecting_identity{};

namespace {
constinit const rank_identity process{};
}

const rank_identity* adopt_process_rank() noexcept {
  if (current_rank == nullptr) current_rank = &process;
  return current_rank;
}

}  // namespace tutti::shm
