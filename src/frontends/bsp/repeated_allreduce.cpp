// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/repeated_allreduce.hpp"

namespace tutti::bsp {

void repeated_allreduce::request_lines() {
  lines_requested_ = true;
  if (made_.count * made_.type.size == shm::line_exchange::bytes) lines_ = native_.lines_of(made_.what);
}

}  // namespace tutti::bsp
