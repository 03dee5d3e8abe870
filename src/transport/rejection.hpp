// SPDX-License-Identifier: Apache-2.0
//
// A rank that rejects its own arguments takes part in the call with zeros, so that no other rank
// waits for it. It sends a rejection to each rank that receives these zeros, before it takes part.
// Thus the rejection is there when the call of the receiver is over, and the receiver's next call
// throws.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

namespace tutti::detail {

struct rejection {
  std::uint64_t context = 0;  // names the communicator (communicator_state::rejection_context())
  std::uint32_t call = 0;     // id of the call on it
  std::int32_t rank = -1;     // in the communicator, of the rank with the error
  std::string text;           // its error
  // The ranks of the communicator whose results depend on the zeros: from `first` to before `end`.
  std::int32_t first = 0, end = std::numeric_limits<std::int32_t>::max();
  // Whether the sender does not know the other members. It then sends to all ranks of the job.
  bool to_whole_job = false;
};

/// The receiver of the rejections of a rank.
class rejection_inbox {
 public:
  /// Any thread may call it. If there is no memory for the text, the rejection has none. If there
  /// is no memory at all, it is due at once.
  virtual void deliver(const rejection& what) noexcept = 0;

 protected:
  ~rejection_inbox() = default;
};

}  // namespace tutti::detail
