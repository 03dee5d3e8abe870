// SPDX-License-Identifier: Apache-2.0
#include "face/meeting.hpp"

namespace tutti::detail {

// Calls that are compared or traced stay calls, and so do those that a schedule carries out.
void meeting::ask_for_lines() {
  asked_ = true;
  const core::recent& last = all_.recent_[static_cast<std::size_t>(made_.what)];
  if (!last.quick || last.how != core::way::native) return;
  if (made_.count * made_.type.size == fabric::line_exchange::bytes) lines_ = all_.where_->lines();
}

}  // namespace tutti::detail
