// SPDX-License-Identifier: Apache-2.0
#include "fabric/postbox.hpp"

#include <algorithm>
#include <new>

namespace tutti::fabric {

letter* letter_store::make(std::size_t bytes) { return new (::operator new(sizeof(letter) + bytes)) letter; }

void letter_store::destroy(letter* one) noexcept {
  one->~letter();
  ::operator delete(one);
}

letter_store::~letter_store() {
  for (auto& of_class : all_)
    for (letter* one : of_class)
      if (one != nullptr) destroy(one);
}

letter* letter_store::take(std::size_t bytes) {
  const auto fits = std::find_if(classes.begin(), classes.end(), [&](std::size_t c) { return bytes <= c; });
  const auto k = static_cast<std::size_t>(fits - classes.begin());
  if (k == single_use) [[unlikely]] {
    letter* const one = make(bytes);
    one->size_class = single_use;
    return one;
  }
  if (unused_[k] == nullptr) {
    if (returned_[k].load(std::memory_order_relaxed) != nullptr)
      unused_[k] = returned_[k].exchange(nullptr, std::memory_order_acquire);
    if (unused_[k] == nullptr) [[unlikely]] {
      all_[k].push_back(nullptr);
      letter* const one = make(classes[k]);
      one->size_class = static_cast<std::uint32_t>(k);
      one->home = this;
      all_[k].back() = one;
      return one;
    }
  }
  letter* const one = unused_[k];
  unused_[k] = one->next;
  return one;
}

void letter_store::give_back(letter* used) noexcept {
  const std::uint32_t k = used->size_class;
  if (k == single_use) [[unlikely]]
    return destroy(used);
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
