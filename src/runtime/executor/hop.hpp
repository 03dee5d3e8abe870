// SPDX-License-Identifier: Apache-2.0
//
// One message to a member and one from another, or two of each, all at once: what is done in structures whose
// members know only a few others, where no schedule could be written yet. All hops of a communicator have one
// tag; of two members each makes those with the other in the same order.
#pragma once

#include <atomic>
#include <cstddef>

#include "runtime/executor/executor.hpp"
#include "runtime/executor/progressable.hpp"

namespace tutti {

/// Ranks of the communicator; below 0: nobody. What is received is `received` bytes long, neither more nor
/// less. Both buffers must stay until it is complete.
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
  /// The number that no call of a communicator has.
  static constexpr std::uint32_t number = 0x7fffff;
  static constexpr std::uint32_t number_bits =
      0x3fff;  ///< as many of its bits as every engine can tell apart
  static constexpr int max_legs = 2;

  hop(context& where, links& peers, const char* operation) noexcept
      : where_(where), peers_(peers), operation_(operation) {}

  /// At most twice.
  void begin(const leg& l);
  /// Throws mismatch_error where what comes is not as long.
  bool go_on(bool blocking) override;
  std::uint64_t moves() const noexcept override { return moves_; }
  shm::wait_site site(const char* what, int peer) const noexcept override;

 private:
  struct state : leg {
    shm::channel *out = nullptr, *in = nullptr;
    bool posted = false;
    std::atomic<std::uint32_t> read{1};  // by the receiver, of what is not copied
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
  int many_ = 0;
  std::uint64_t moves_ = 0;
};

}  // namespace tutti
