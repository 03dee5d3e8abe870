// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/p2p_queue.hpp"

#include <new>
#include <type_traits>
#include <utility>

namespace tutti::shm {

static_assert(std::is_trivially_destructible_v<queued_message>);

message_pool::~message_pool() {
  for (std::byte* some : allocated_) ::operator delete(some);
}

// Makes a message that is freed after its use.
queued_message* message_pool::make_single(std::size_t bytes) {
  auto* const one = new (::operator new(sizeof(queued_message) + bytes)) queued_message;
  one->size_class = single_use;
  return one;
}

// Allocates several at once, because the number of messages in progress varies slightly.
queued_message* message_pool::make(std::size_t k) {
  constexpr std::array<std::size_t, classes.size()> at_once = {8, 4, 2};
  const std::size_t each = sizeof(queued_message) + classes[k];
  static_assert(classes[0] % alignof(queued_message) == 0 && classes[1] % alignof(queued_message) == 0);
  allocated_.push_back(nullptr);
  allocated_.back() = static_cast<std::byte*>(::operator new(at_once[k] * each));
  for (std::size_t i = 0; i < at_once[k]; ++i) {
    auto* const one = new (allocated_.back() + i * each) queued_message;
    one->size_class = static_cast<std::uint32_t>(k);
    one->pool = this;
    one->next = std::exchange(unused_[k], one);
  }
  return unused_[k];
}

queued_message* message_pool::acquire(std::size_t bytes) {
  const std::size_t k = bytes <= classes[0]   ? 0
                        : bytes <= classes[1] ? 1
                        : bytes <= classes[2] ? 2
                                              : single_use;
  if (k == single_use) [[unlikely]]
    return make_single(bytes);
  queued_message* one = unused_[k];
  if (one == nullptr) {
    if (returned_[k].load(std::memory_order_relaxed) != nullptr)
      one = returned_[k].exchange(nullptr, std::memory_order_acquire);
    if (one == nullptr) [[unlikely]]
      one = make(k);
  }
  unused_[k] = one->next;
  return one;
}

void message_pool::release(queued_message* used) noexcept {
  const std::uint32_t k = used->size_class;
  if (k == single_use) [[unlikely]]
    return ::operator delete(used);
  std::atomic<queued_message*>& returned = used->pool->returned_[k];
  queued_message* top = returned.load(std::memory_order_relaxed);
  do {
    used->next = top;
  } while (!returned.compare_exchange_weak(top, used, std::memory_order_release, std::memory_order_relaxed));
}

p2p_queue::~p2p_queue() {
  while (queued_message* one = next()) message_pool::release(one);
}

bool p2p_queue::collect_posted() noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return false;
  queued_message* one = newest_.exchange(nullptr, std::memory_order_acquire);
  while (one != nullptr) {
    queued_message* const older = one->next;
    one->next = oldest_;
    oldest_ = one;
    one = older;
  }
  return true;
}

}  // namespace tutti::shm
