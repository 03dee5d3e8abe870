// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tutti::detail {

/// The part of a communicator beside its members: the neighbors of this rank, or the size of the
/// first of two groups.
struct topology {
  bool graph = false;
  std::vector<int> sources, destinations;
  int first_group = 0;
};

}  // namespace tutti::detail
