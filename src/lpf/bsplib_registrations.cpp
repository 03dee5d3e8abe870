// SPDX-License-Identifier: Apache-2.0
#include "lpf/bsplib_registrations.hpp"

#include <algorithm>

namespace tutti::lpf {

const registration* registrations::find(const void* address) const noexcept {
  const auto stack = stacks_.find(address);
  if (stack == stacks_.end()) return nullptr;
  for (auto r = stack->second.rbegin(); r != stack->second.rend(); ++r)
    if (r->in_effect) return &*r;
  return nullptr;
}

void registrations::push(const void* address, std::size_t size, std::size_t processes) {
  registration made{address, size, next_, LPF_INVALID_MEMSLOT, false, false, {}};
  made.sizes.reserve(processes);
  coming_.push_back({address, next_});
  try {
    stacks_[address].push_back(std::move(made));
  } catch (...) {
    coming_.pop_back();
    throw;
  }
  ++next_;
  ++all_;
}

bool registrations::pop(const void* address) {
  const auto stack = stacks_.find(address);
  if (stack == stacks_.end()) return false;
  for (auto r = stack->second.rbegin(); r != stack->second.rend(); ++r) {
    if (r->ending) continue;
    ending_.push_back({address, r->number});
    r->ending = true;
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
  // As if they had not been made, so that numbers stay the same on all processes.
  next_ = settled_;
  forget_requests();
}

std::vector<lpf_memslot_t> registrations::slots() const {
  std::vector<const registration*> live;
  for (const auto& stack : stacks_)
    for (const registration& r : stack.second)
      if (r.in_effect) live.push_back(&r);
  std::sort(live.begin(), live.end(),
            [](const registration* a, const registration* b) { return a->number < b->number; });
  std::vector<lpf_memslot_t> slots;
  for (const registration* r : live) slots.push_back(r->slot);
  return slots;
}

registration& registrations::at(const place& p) noexcept {
  std::vector<registration>& stack = stacks_.find(p.address)->second;
  auto r = stack.rbegin();
  while (r->number != p.number) ++r;
  return *r;
}

lpf_memslot_t registrations::take_out(const place& p) noexcept {
  const auto found = stacks_.find(p.address);
  std::vector<registration>& stack = found->second;
  registration& r = at(p);
  const lpf_memslot_t slot = r.slot;
  stack.erase(stack.begin() + (&r - stack.data()));
  if (stack.empty()) stacks_.erase(found);
  --all_;
  return slot;
}

}  // namespace tutti::lpf
