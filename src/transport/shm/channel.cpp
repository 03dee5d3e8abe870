// SPDX-License-Identifier: Apache-2.0
// Keeps messages of other runs as unexpected messages.
#include "transport/shm/channel.hpp"

namespace tutti::shm {

// Called if messages of other runs precede the wanted one, or if there are unexpected messages.
// Searches the unexpected messages first, in their order of arrival. Then it searches the ring and
// moves messages of other runs to the unexpected ones.
bool channel::find_beyond_next(std::uint64_t tag, arrival& found) {
  for (std::size_t i = 0; i < unexpected_.size(); ++i)
    if (unexpected_[i].tag == tag) {
      found = {unexpected_[i].where.data, unexpected_[i].where.bytes, unexpected_[i].where.done, true, i};
      return true;
    }
  for (;;) {
    slot& s = ring_[next_ % slot_count];
    if (s.sequence.load(std::memory_order_acquire) != next_ + 1) return false;
    read(s, next_, found);
    if (s.tag == tag) return true;
    unexpected_entry entry{s.tag, nullptr, {found.data, found.bytes, found.done}};
    if (found.done == nullptr) {
      entry.copy.reset(new std::byte[found.bytes + 1]);
      std::memcpy(entry.copy.get(), found.data, found.bytes);
      entry.where.data = entry.copy.get();
    }
    unexpected_.push_back(std::move(entry));
    ++next_;
    consumed_.store(next_, std::memory_order_release);
    wake(*from_wakeup_);
  }
}

}  // namespace tutti::shm
