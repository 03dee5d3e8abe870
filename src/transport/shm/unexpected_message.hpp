// SPDX-License-Identifier: Apache-2.0
//
// A message that has come and that nobody has received yet, as whoever matches messages sees it. What else
// there is to know of it, where its contents are above all, knows the carrier that brought it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti::shm {

struct unexpected_message {
  int source = 0;  // rank on its communicator
  int tag = 0;
  std::size_t bytes = 0;
  // Of whoever has taken it in: the order of arrival, and its neighbours in that order.
  std::uint64_t number = 0;
  unexpected_message* before = nullptr;
  unexpected_message* behind = nullptr;
};

}  // namespace tutti::shm
