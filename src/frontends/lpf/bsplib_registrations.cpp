// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/bsplib_registrations.hpp"

#include <algorithm>
#include <bit>

namespace tutti::lpf {

void address_table::grow() {
  std::vector<bucket> more(buckets_.empty() ? 16 : 2 * buckets_.size());
  buckets_.swap(more);
  shift_ = 64u - static_cast<unsigned>(std::countr_zero(buckets_.size()));
  for (bucket& b : more)
    if (b.stack != nullptr) buckets_[free_bucket(b.address)] = std::move(b);
}

address_stack& address_table::find_or_create(const void* address) {
  if (address_stack* const found = find(address)) return *found;
  auto fresh = std::make_unique<address_stack>();
  fresh->address = address;
  if (2 * (used_ + 1) > buckets_.size()) grow();
  bucket& b = buckets_[free_bucket(address)];
  b.address = address;
  b.stack = std::move(fresh);
  ++used_;
  return *b.stack;
}

// Moves later entries up, unless they would precede their home position (Knuth, Algorithm 6.4R).
void address_table::erase(const void* address) noexcept {
  std::size_t free = home_of(address);
  while (buckets_[free].address != address || buckets_[free].stack == nullptr) free = next(free);
  buckets_[free].stack.reset();
  --used_;
  const std::size_t mask = buckets_.size() - 1;
  for (std::size_t i = next(free); buckets_[i].stack != nullptr; i = next(i)) {
    const std::size_t home = home_of(buckets_[i].address);
    if (((i - home) & mask) < ((i - free) & mask)) continue;
    buckets_[free] = std::move(buckets_[i]);
    free = i;
  }
}

void registrations::push(const void* address, std::size_t size, std::size_t processes) {
  auto made = std::make_unique<registration>(
      registration{address, size, next_id_, LPF_INVALID_MEMSLOT, false, false, {}});
  made->sizes.reserve(processes);
  pushes_.push_back({address, next_id_});
  try {
    address_stack& stack = stacks_.find_or_create(address);
    try {
      stack.all.push_back(std::move(made));
    } catch (...) {
      if (stack.all.empty()) stacks_.erase(address);
      throw;
    }
  } catch (...) {
    pushes_.pop_back();
    throw;
  }
  ++next_id_;
  ++size_;
}

bool registrations::pop(const void* address) {
  address_stack* const stack = stacks_.find(address);
  if (stack == nullptr) return false;
  for (auto r = stack->all.rbegin(); r != stack->all.rend(); ++r) {
    if ((*r)->popped) continue;
    pops_.push_back({address, (*r)->id});
    (*r)->popped = true;
    return true;
  }
  return false;
}

std::uint64_t registrations::digest_of_pops() const noexcept {
  std::uint64_t digest = pops_.size();
  for (const request& q : pops_) {
    digest = (digest ^ (q.id + 1)) * 0x9e3779b97f4a7c15u;
    digest ^= digest >> 29;
  }
  return digest;
}

void registrations::drop_requests() noexcept {
  for (const request& q : pops_) at(q).popped = false;
  for (const request& q : pushes_) remove(q);
  // The ids of the dropped requests are used again. So ids stay the same on all processes.
  next_id_ = first_requested_id_;
  clear_requests();
}

std::vector<lpf_memslot_t> registrations::slots() const {
  std::vector<const registration*> live;
  stacks_.for_each([&](const address_stack& stack) {
    for (const auto& r : stack.all)
      if (r->in_effect) live.push_back(r.get());
  });
  std::sort(live.begin(), live.end(),
            [](const registration* a, const registration* b) { return a->id < b->id; });
  std::vector<lpf_memslot_t> slots;
  for (const registration* r : live) slots.push_back(r->slot);
  return slots;
}

// Binary search is possible, because the ids in a stack ascend.
registration& registrations::at(const request& q) noexcept {
  const auto& all = stacks_.find(q.address)->all;
  return **std::lower_bound(all.begin(), all.end(), q.id,
                            [](const auto& r, std::uint64_t id) { return r->id < id; });
}

lpf_memslot_t registrations::remove(const request& q) noexcept {
  address_stack& stack = *stacks_.find(q.address);
  const registration& r = at(q);
  const lpf_memslot_t slot = r.slot;
  stack.all.erase(
      std::find_if(stack.all.begin(), stack.all.end(), [&](const auto& one) { return one.get() == &r; }));
  if (stack.all.empty())
    stacks_.erase(q.address);
  else
    stack.find_current();
  --size_;
  return slot;
}

}  // namespace tutti::lpf
