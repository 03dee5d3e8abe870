// SPDX-License-Identifier: Apache-2.0
//
// A message that has arrived and is not yet received, as the matching engine sees it. The transport
// derives its own type, which knows where the contents are.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::shm {

struct unexpected_message {
  int source = 0;  // rank on its communicator
  int tag = 0;
  std::size_t bytes = 0;
  // For the matching engine: the order of arrival, and the neighbors in its list.
  std::uint64_t sequence_number = 0;
  unexpected_message* list_prev = nullptr;
  unexpected_message* list_next = nullptr;
};

}  // namespace tutti::shm
