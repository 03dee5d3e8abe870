// SPDX-License-Identifier: Apache-2.0
//
// The messages of the program that have arrived over the channels of a rank, and that no receive
// has matched yet. The receivers of all channels put them here, so that a message without a receive
// does not block those behind it. Each communicator has a queue, also before this rank opens it.
// Grants, which answer announced messages, have one queue.
//
// The first two bits of a tag are the kind of a message. Only messages of the program and grants
// come here. All others go to the request with their tag.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "transport/shm/process_channel.hpp"
#include "transport/shm/unexpected_message.hpp"

namespace tutti::shm {

/// The first two bits of a tag.
enum class message_kind : std::uint64_t {
  schedule,
  contents,  ///< of a message that was announced
  p2p,       ///< then 30 bits of the communicator, 1 bit (announced), 31 bits of the program's tag
  grant
};
constexpr std::uint64_t tag_of(message_kind kind, std::uint64_t rest) noexcept {
  return static_cast<std::uint64_t>(kind) << 62 | rest;
}
constexpr std::uint64_t p2p_tag(std::uint32_t communicator, bool announced, int tag) noexcept {
  return tag_of(message_kind::p2p, static_cast<std::uint64_t>(communicator) << 32 |
                                       (announced ? std::uint64_t{1} << 31 : 0) |
                                       static_cast<std::uint32_t>(tag));
}
/// Whether a message with this tag needs no request.
constexpr bool is_p2p(std::uint64_t tag) noexcept { return tag >> 63 != 0; }

/// The contents of a p2p message that is announced, and of a grant.
struct p2p_announcement {
  std::uint64_t bytes;
  std::uint32_t number;  // of the send, in its rank
};
struct p2p_grant {
  std::uint32_t number;
  std::uint32_t discards;  // 1: nobody receives the contents, and the send is complete
};

struct p2p_arrival final : unexpected_message {
  enum class phase : std::uint8_t { unused, queued, taken };

  std::uint64_t channel_tag = 0;
  int from = 0;  // rank of the node
  phase state = phase::unused;
  bool granted = false;  // an announced message whose sender has its grant
  std::size_t bytes_here = 0;
  p2p_arrival* next = nullptr;

  bool is_announced() const noexcept { return (channel_tag >> 31 & 1) != 0; }
  std::byte* data() noexcept { return bytes_here <= short_.size() ? short_.data() : long_.get(); }
  void reserve(std::size_t n) {
    if (n > short_.size() && n > capacity_) {
      long_.reset(new std::byte[std::bit_ceil(n)]);
      capacity_ = std::bit_ceil(n);
    }
    bytes_here = n;
  }
  void shrink() noexcept {
    if (capacity_ <= 8192) return;
    long_.reset();
    capacity_ = 0;
  }

 private:
  std::array<std::byte, 64> short_;
  std::unique_ptr<std::byte[]> long_;
  std::size_t capacity_ = 0;
};

class p2p_arrivals {
 public:
  using queue = request_list<p2p_arrival>;

  // --- for the receivers of channels
  /// A message begins to arrive. The caller writes its contents to data().
  p2p_arrival& begin(int from, std::uint64_t tag, std::size_t bytes) {
    queue_of(tag);  // allocates; complete() must not
    p2p_arrival& one = acquire();
    one.reserve(bytes);
    unused_.pop_back();
    one.channel_tag = tag;
    one.from = from;
    one.granted = false;
    ++incomplete_;
    return one;
  }
  void complete(p2p_arrival& one) {
    --incomplete_;
    one.state = p2p_arrival::phase::queued;
    queue_of(one.channel_tag).append(one);
  }

  // --- for their user
  /// The queue of a communicator. It stays at its address until close().
  queue& of(std::uint32_t communicator) { return queue_of(p2p_tag(communicator, false, 0)); }
  /// Forgets the queue unless messages are in it. All queues stay while a message is incomplete,
  /// because complete() must not allocate.
  void close(std::uint32_t communicator) noexcept {
    const auto found = queues_.find(communicator);
    if (found == queues_.end() || !found->second.empty() || incomplete_ != 0) return;
    if (last_ == &found->second) last_ = nullptr;
    queues_.erase(found);
  }
  /// For tests: the number of queues of communicators.
  std::size_t queues() const noexcept { return queues_.size(); }
  queue& grants() noexcept { return grants_; }
  /// The first message; null if there is none. The caller releases it.
  static p2p_arrival* next(queue& of) noexcept {
    p2p_arrival* const one = of.first();
    if (one == nullptr) return nullptr;
    of.remove_first();
    one->state = p2p_arrival::phase::taken;
    return one;
  }
  void release(p2p_arrival& one) noexcept {
    one.state = p2p_arrival::phase::unused;
    one.shrink();
    unused_.push_back(&one);
  }
  const std::vector<std::unique_ptr<p2p_arrival>>& all() const noexcept { return all_; }

 private:
  queue& queue_of(std::uint64_t tag) {
    if (static_cast<message_kind>(tag >> 62) == message_kind::grant) return grants_;
    const auto communicator = static_cast<std::uint32_t>(tag >> 32 & 0x3fffffff);
    if (last_ == nullptr || communicator != last_communicator_) {
      last_ = &queues_[communicator];
      last_communicator_ = communicator;
    }
    return *last_;
  }
  // The last unused one, which the caller removes.
  p2p_arrival& acquire() {
    if (unused_.empty()) {
      unused_.reserve(all_.size() + 1);
      all_.push_back(std::make_unique<p2p_arrival>());
      unused_.push_back(all_.back().get());
    }
    return *unused_.back();
  }

  std::unordered_map<std::uint32_t, queue> queues_;
  queue* last_ = nullptr;
  std::uint32_t last_communicator_ = 0;
  queue grants_;
  std::size_t incomplete_ = 0;  // between begin() and complete()
  std::vector<std::unique_ptr<p2p_arrival>> all_;
  std::vector<p2p_arrival*> unused_;
};

}  // namespace tutti::shm
