// SPDX-License-Identifier: Apache-2.0
//
// The sends and receives that one side has posted and the other has not: a queue for each context
// and pair of ranks, in a hash table. Empty queues take no memory, since p ranks have p * p pairs.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tutti::simulation {

class message_queues {
 public:
  /// Bits of a rank and of a context in a key.
  static constexpr int rank_bits = 20, context_bits = 24;

  static std::uint64_t key(std::uint32_t context, std::uint32_t from, std::uint32_t to) noexcept {
    return std::uint64_t{context} << (2 * rank_bits) | std::uint64_t{from} << rank_bits | to;
  }

  void clear() {
    slots_.assign(64, {});
    used_ = 0;
    next_.clear();
  }

  /// Takes the first entry of the queue, if the queue holds sends or receives as `sends` says.
  std::optional<std::uint32_t> take(std::uint64_t key, bool sends) {
    const std::size_t i = find(key);
    slot& s = slots_[i];
    if (!s.used || s.sends != sends) return {};
    const std::uint32_t first = s.head;
    if (s.head == s.tail)
      erase(i);
    else
      s.head = next_[first];
    return first;
  }

  /// Appends to the queue. A queue that is not empty must hold the same kind.
  void append(std::uint64_t key, bool sends, std::uint32_t message) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    if (message >= next_.size()) next_.resize(message + 1 + message / 2);
    slot& s = slots_[find(key)];
    if (s.used) {
      next_[s.tail] = message;
    } else {
      s = {key, 0, 0, true, sends};
      s.head = message;
      ++used_;
    }
    s.tail = message;
  }

  bool empty() const noexcept { return used_ == 0; }

 private:
  struct slot {
    std::uint64_t key = 0;
    std::uint32_t head = 0, tail = 0;
    bool used = false, sends = false;
  };

  std::size_t home(std::uint64_t key) const noexcept {
    key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15u;
    return static_cast<std::size_t>(key >> (64 - std::bit_width(slots_.size() - 1)));
  }
  std::size_t find(std::uint64_t key) const noexcept {
    std::size_t i = home(key);
    while (slots_[i].used && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void erase(std::size_t hole) {
    --used_;
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t i = (hole + 1) & mask; slots_[i].used; i = (i + 1) & mask) {
      // An entry moves to the hole unless its home lies behind the hole.
      if (((i - home(slots_[i].key)) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }
  void grow() {
    std::vector<slot> before(slots_.size() * 2);
    before.swap(slots_);
    for (const slot& s : before)
      if (s.used) slots_[find(s.key)] = s;
  }

  std::vector<slot> slots_ = std::vector<slot>(64);
  std::size_t used_ = 0;
  std::vector<std::uint32_t> next_;  // by message
};

}  // namespace tutti::simulation
