// SPDX-License-Identifier: Apache-2.0
//
// A hop: one message to a member and one from another, or two of each, all at once. Operations on
// structures use hops, because members that know only a few others cannot run a schedule yet. All
// hops of a communicator have one tag. Each pair of members makes its hops in the same order.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/executor/executor.hpp"
#include "runtime/executor/progressable.hpp"

namespace tutti::detail {

/// `to` and `from` are ranks of the communicator; a negative rank means none. The received message
/// must have exactly `received` bytes. Both buffers must stay valid until completion.
struct leg {
  int to = -1;
  const void* data = nullptr;
  std::size_t bytes = 0;
  int from = -1;
  void* into = nullptr;
  std::size_t received = 0;
};

class hop final : public progressable {
 public:
  /// A sequence number that no call of a communicator has.
  static constexpr std::uint32_t call_id = 0x7fffff;
  /// The bits of it that every engine's tags can hold.
  static constexpr std::uint32_t call_id_bits = 0x3fff;
  static constexpr int max_legs = 2;

  hop(context& where, links& peers, const char* operation) noexcept
      : where_(where), peers_(peers), operation_(operation) {}

  /// Call it at most max_legs times.
  void begin(const leg& l);
  /// Throws mismatch_error if a message has another length.
  bool advance(bool blocking) override;
  std::uint64_t progress_count() const noexcept override { return progress_count_; }
  shm::wait_site site(const char* what, int peer) const noexcept override;

 private:
  struct state : leg {
    shm::channel *out = nullptr, *in = nullptr;
    bool posted = false;
    std::atomic<std::uint32_t> read{1};  // set by the receiver of a rendezvous message
    transfer sending, receiving;
  };
  bool send(state& s, bool blocking);
  bool receive(state& s, bool blocking);
  bool is_read(state& s, bool blocking);
  bool end_message(int& peer, transfer& t, const char* what, bool blocking);
  template <class Step>
  bool for_each_leg(Step&& step);

  context& where_;
  links& peers_;
  const char* operation_;
  state legs_[max_legs];
  int leg_count_ = 0;
  std::uint64_t progress_count_ = 0;
};

}  // namespace tutti::detail
