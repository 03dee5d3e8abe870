// SPDX-License-Identifier: Apache-2.0
//
// The work of a direct collective: each rank makes one slice of the result and writes it to its
// destinations.
#pragma once

#include "tutti/call.hpp"

namespace tutti::shm {

struct alignas(64) published_call {
  const call* what = nullptr;
};

/// The calls of all members in one collective. Each one has the buffers of its member, as this
/// process sees them.
class published_calls {
 public:
  published_calls(const published_call* first, int size, int rank) noexcept
      : first_(first), size_(size), rank_(rank) {}
  const call& operator[](int r) const noexcept { return *first_[r].what; }
  const call& mine() const noexcept { return *first_[rank_].what; }
  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }

 private:
  const published_call* first_;
  int size_, rank_;
};

/// Does this rank's share of the call, with all members' buffers readable and writable. All members
/// pass a barrier before it and after it. In between, no two ranks write the same bytes, and no
/// rank writes what another reads.
void work_slice(const published_calls& all);

/// Whether work_slice() implements the collective.
bool slices_implement(collective what) noexcept;

}  // namespace tutti::shm
