// SPDX-License-Identifier: Apache-2.0
#include "communicator/repeated_allreduce.hpp"

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

repeated_allreduce::repeated_allreduce(communicator_impl& all, const char* operation) noexcept
    : all_(all),
      calls_(all.calls()),
      rank_(all.state().this_rank()),
      site_{.operation = operation, .what = "the other members"} {}

// Calls that are compared, traced, or executed by a schedule remain calls.
void repeated_allreduce::request_lines() {
  lines_requested_ = true;
  if (!calls_.repeats_native(made_.what)) return;
  if (made_.count * made_.type.size == shm::line_exchange::bytes) lines_ = calls_.lines();
}

}  // namespace tutti::detail
