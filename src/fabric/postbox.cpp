// SPDX-License-Identifier: Apache-2.0
#include "fabric/postbox.hpp"

#include <new>
#include <type_traits>
#include <utility>

namespace tutti::fabric {

static_assert(std::is_trivially_destructible_v<letter>);

letter_store::~letter_store() {
  for (std::byte* some : made_) ::operator delete(some);
}

// One that goes with its message.
letter* letter_store::make_single(std::size_t bytes) {
  auto* const one = new (::operator new(sizeof(letter) + bytes)) letter;
  one->size_class = single_use;
  return one;
}

// Several at once: how many are on their way at a time differs a little from one moment to the next.
letter* letter_store::make(std::size_t k) {
  constexpr std::array<std::size_t, classes.size()> at_once = {8, 4, 2};
  const std::size_t each = sizeof(letter) + classes[k];
  static_assert(classes[0] % alignof(letter) == 0 && classes[1] % alignof(letter) == 0);
  made_.push_back(nullptr);
  made_.back() = static_cast<std::byte*>(::operator new(at_once[k] * each));
  for (std::size_t i = 0; i < at_once[k]; ++i) {
    auto* const one = new (made_.back() + i * each) letter;
    one->size_class = static_cast<std::uint32_t>(k);
    one->home = this;
    one->next = std::exchange(unused_[k], one);
  }
  return unused_[k];
}

letter* letter_store::take(std::size_t bytes) {
  const std::size_t k = bytes <= classes[0]   ? 0
                        : bytes <= classes[1] ? 1
                        : bytes <= classes[2] ? 2
                                              : single_use;
  if (k == single_use) [[unlikely]]
    return make_single(bytes);
  letter* one = unused_[k];
  if (one == nullptr) {
    if (returned_[k].load(std::memory_order_relaxed) != nullptr)
      one = returned_[k].exchange(nullptr, std::memory_order_acquire);
    if (one == nullptr) [[unlikely]]
      one = make(k);
  }
  unused_[k] = one->next;
  return one;
}

void letter_store::give_back(letter* used) noexcept {
  const std::uint32_t k = used->size_class;
  if (k == single_use) [[unlikely]]
    return ::operator delete(used);
  std::atomic<letter*>& pile = used->home->returned_[k];
  letter* top = pile.load(std::memory_order_relaxed);
  do {
    used->next = top;
  } while (!pile.compare_exchange_weak(top, used, std::memory_order_release, std::memory_order_relaxed));
}

postbox::~postbox() {
  while (letter* one = next()) letter_store::give_back(one);
}

bool postbox::turn_round() noexcept {
  if (newest_.load(std::memory_order_relaxed) == nullptr) return false;
  letter* one = newest_.exchange(nullptr, std::memory_order_acquire);
  while (one != nullptr) {
    letter* const older = one->next;
    one->next = oldest_;
    oldest_ = one;
    one = older;
  }
  return true;
}

}  // namespace tutti::fabric
