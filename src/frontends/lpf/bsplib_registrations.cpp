// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/bsplib_registrations.hpp"

#include <algorithm>
#include <bit>

namespace tutti::lpf {

void address_table::grow() {
  std::vector<place> more(places_.empty() ? 16 : 2 * places_.size());
  places_.swap(more);
  shift_ = 64u - static_cast<unsigned>(std::countr_zero(places_.size()));
  for (place& p : more)
    if (p.stack != nullptr) places_[free_place(p.address)] = std::move(p);
}

address_stack& address_table::made(const void* address) {
  if (address_stack* const there = find(address)) return *there;
  auto fresh = std::make_unique<address_stack>();
  fresh->address = address;
  if (2 * (used_ + 1) > places_.size()) grow();
  place& p = places_[free_place(address)];
  p.address = address;
  p.stack = std::move(fresh);
  ++used_;
  return *p.stack;
}

// Moves later entries up, unless they would stand before their home position (Knuth, Algorithm
// 6.4R).
void address_table::erase(const void* address) noexcept {
  std::size_t free = home_of(address);
  while (places_[free].address != address || places_[free].stack == nullptr) free = next(free);
  places_[free].stack.reset();
  --used_;
  const std::size_t mask = places_.size() - 1;
  for (std::size_t i = next(free); places_[i].stack != nullptr; i = next(i)) {
    const std::size_t home = home_of(places_[i].address);
    if (((i - home) & mask) < ((i - free) & mask)) continue;
    places_[free] = std::move(places_[i]);
    free = i;
  }
}

void registrations::push(const void* address, std::size_t size, std::size_t processes) {
  auto made = std::make_unique<registration>(
      registration{address, size, next_, LPF_INVALID_MEMSLOT, false, false, {}});
  made->sizes.reserve(processes);
  coming_.push_back({address, next_});
  try {
    address_stack& stack = stacks_.made(address);
    try {
      stack.all.push_back(std::move(made));
    } catch (...) {
      if (stack.all.empty()) stacks_.erase(address);
      throw;
    }
  } catch (...) {
    coming_.pop_back();
    throw;
  }
  ++next_;
  ++all_;
}

bool registrations::pop(const void* address) {
  address_stack* const stack = stacks_.find(address);
  if (stack == nullptr) return false;
  for (auto r = stack->all.rbegin(); r != stack->all.rend(); ++r) {
    if ((*r)->ending) continue;
    ending_.push_back({address, (*r)->number});
    (*r)->ending = true;
    return true;
  }
  return false;
}

std::uint64_t registrations::digest_of_ending() const noexcept {
  std::uint64_t digest = ending_.size();
  for (const place& p : ending_) {
    digest = (digest ^ (p.number + 1)) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  }
  return digest;
}

void registrations::drop_requests() noexcept {
  for (const place& p : ending_) at(p).ending = false;
  for (const place& p : coming_) take_out(p);
  // Restores the number, as if the requests had not been made. So numbers stay the same on all
  // processes.
  next_ = settled_;
  forget_requests();
}

std::vector<lpf_memslot_t> registrations::slots() const {
  std::vector<const registration*> live;
  stacks_.for_each([&](const address_stack& stack) {
    for (const auto& r : stack.all)
      if (r->in_effect) live.push_back(r.get());
  });
  std::sort(live.begin(), live.end(),
            [](const registration* a, const registration* b) { return a->number < b->number; });
  std::vector<lpf_memslot_t> slots;
  for (const registration* r : live) slots.push_back(r->slot);
  return slots;
}

// Binary search is possible, because the numbers in a stack ascend.
registration& registrations::at(const place& p) noexcept {
  const auto& all = stacks_.find(p.address)->all;
  return **std::lower_bound(all.begin(), all.end(), p.number,
                            [](const auto& r, std::uint64_t number) { return r->number < number; });
}

lpf_memslot_t registrations::take_out(const place& p) noexcept {
  address_stack& stack = *stacks_.find(p.address);
  const registration& r = at(p);
  const lpf_memslot_t slot = r.slot;
  stack.all.erase(
      std::find_if(stack.all.begin(), stack.all.end(), [&](const auto& one) { return one.get() == &r; }));
  if (stack.all.empty())
    stacks_.erase(p.address);
  else
    stack.find_current();
  --all_;
  return slot;
}

}  // namespace tutti::lpf
