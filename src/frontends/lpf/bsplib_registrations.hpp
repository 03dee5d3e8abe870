// SPDX-License-Identifier: Apache-2.0
//
// BSPlib's registrations on one process: a stack for each address. A request is resolved when it is
// made. It takes effect at the end of the superstep, in the order of the requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

/// The size that a process reports to the others for a registration of null.
inline constexpr std::size_t size_of_null = ~std::size_t{0};

struct registration {
  const void* address;
  std::size_t size;
  std::uint64_t id;    ///< the same on all processes
  lpf_memslot_t slot;  ///< valid if in_effect
  bool in_effect;
  bool popped;                     ///< it ends with this superstep
  std::vector<std::size_t> sizes;  ///< on all processes; in safe mode only
};

/// The registrations of one address; the last one is the top.
struct address_stack {
  const void* address;
  const registration* current = nullptr;  ///< the last one in effect; null: none
  std::vector<std::unique_ptr<registration>> all;

  void find_current() noexcept {
    current = nullptr;
    for (auto r = all.rbegin(); r != all.rend() && current == nullptr; ++r)
      if ((*r)->in_effect) current = r->get();
  }
};

/// The stacks, by address. Open addressing with linear probing, at most half full. So a lookup is a
/// multiplication and one or two accesses.
class address_table {
 public:
  address_stack* find(const void* address) const noexcept {
    if (buckets_.empty()) return nullptr;
    for (std::size_t i = home_of(address); buckets_[i].stack != nullptr; i = next(i))
      if (buckets_[i].address == address) return buckets_[i].stack.get();
    return nullptr;
  }
  /// Makes a stack if the address has none. If it throws std::bad_alloc, it has no effect.
  address_stack& find_or_create(const void* address);
  /// Requires that the address has a stack.
  void erase(const void* address) noexcept;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const bucket& b : buckets_)
      if (b.stack != nullptr) visit(*b.stack);
  }

 private:
  struct bucket {
    const void* address = nullptr;
    std::unique_ptr<address_stack> stack;  // null: free
  };
  std::size_t home_of(const void* address) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u >>
                                    shift_);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (buckets_.size() - 1); }
  std::size_t free_bucket(const void* address) const noexcept {
    std::size_t i = home_of(address);
    while (buckets_[i].stack != nullptr) i = next(i);
    return i;
  }
  void grow();

  std::vector<bucket> buckets_;  // the size is a power of two
  std::size_t used_ = 0;
  unsigned shift_ = 64;
};

class registrations {
 public:
  /// The registration in effect for an address; null: none.
  const registration* find(const void* address) const noexcept {
    const address_stack* const stack = stacks_.find(address);
    return stack == nullptr ? nullptr : stack->current;
  }
  /// `processes`: the number of sizes that it will hold. If it throws std::bad_alloc, it has no
  /// effect.
  void push(const void* address, std::size_t size, std::size_t processes);
  /// Returns false if there is none. Throws std::bad_alloc.
  bool pop(const void* address);

  std::size_t size() const noexcept { return size_; }  ///< including the requested ones
  std::size_t pushes() const noexcept { return pushes_.size(); }
  std::size_t pops() const noexcept { return pops_.size(); }
  /// A digest of the registrations that end. It is equal if the same ones end.
  std::uint64_t digest_of_pops() const noexcept;
  /// The i-th requested registration, in the order of the calls.
  registration& pushed(std::size_t i) noexcept { return at(pushes_[i]); }

  /// Makes the requests take effect. Calls `end`, which must not throw, with the slots of the
  /// registrations that end, in the order of the calls.
  template <class End>
  void apply_requests(End&& end) noexcept {
    for (const request& q : pushes_) {
      at(q).in_effect = true;
      stacks_.find(q.address)->find_current();
    }
    for (const request& q : pops_) end(remove(q));
    clear_requests();
  }
  /// Drops the requests.
  void drop_requests() noexcept;
  /// The slots of all registrations in effect, in the order of their registration.
  std::vector<lpf_memslot_t> slots() const;

 private:
  struct request {
    const void* address;
    std::uint64_t id;
  };
  registration& at(const request& q) noexcept;
  lpf_memslot_t remove(const request& q) noexcept;
  void clear_requests() noexcept {
    pushes_.clear();
    pops_.clear();
    first_requested_id_ = next_id_;
  }

  address_table stacks_;
  std::vector<request> pushes_, pops_;
  std::size_t size_ = 0;
  std::uint64_t next_id_ = 0, first_requested_id_ = 0;
};

}  // namespace tutti::lpf
