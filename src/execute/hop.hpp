// SPDX-License-Identifier: Apache-2.0
//
// One message to a member and one from another, at once: what is done in structures whose members know only a
// few others, where no schedule could be written yet. All hops of a communicator have one tag; of two members
// each makes those with the other in the same order.
#pragma once

#include <atomic>
#include <cstddef>

#include "execute/executor.hpp"
#include "execute/progressing.hpp"

namespace tutti {

class hop final : public progressing {
 public:
  /// The number that no call of a communicator has.
  static constexpr std::uint32_t number = 0x7fffff;
  static constexpr std::uint32_t number_bits =
      0x3fff;  ///< as many of its bits as every engine can tell apart

  hop(context& where, links& peers, const char* operation) noexcept
      : where_(where), peers_(peers), operation_(operation) {}

  /// Ranks of the communicator; below 0: nobody. What is received is `received` bytes long, neither more nor
  /// less. Both buffers must stay until it is complete.
  void begin(int to, const void* data, std::size_t bytes, int from, void* into, std::size_t received);
  /// Throws mismatch_error where what comes is not as long.
  bool go_on(bool blocking) override;
  std::uint64_t moves() const noexcept override { return moves_; }
  fabric::wait_site site(const char* what, int peer) const noexcept override;

 private:
  bool send(bool blocking);
  bool receive(bool blocking);
  bool both_by_messages(bool blocking);

  context& where_;
  links& peers_;
  const char* operation_;
  int to_ = -1, from_ = -1;
  const void* data_ = nullptr;
  void* into_ = nullptr;
  std::size_t bytes_ = 0, received_ = 0;
  fabric::channel *out_ = nullptr, *in_ = nullptr;
  bool posted_ = false;
  std::atomic<std::uint32_t> read_{1};  // by the receiver, of what is not copied
  transfer sending_, receiving_;
  std::uint64_t moves_ = 0;
};

}  // namespace tutti
