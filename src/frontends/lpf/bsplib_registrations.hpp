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

/// The size that is reported to other processes for a registration of null.
inline constexpr std::size_t size_of_null = ~std::size_t{0};

struct registration {
  const void* address;
  std::size_t size;
  std::uint64_t number;  ///< the same on all processes
  lpf_memslot_t slot;    ///< valid if in_effect
  bool in_effect;
  bool ending;
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
    if (places_.empty()) return nullptr;
    for (std::size_t i = home_of(address); places_[i].stack != nullptr; i = next(i))
      if (places_[i].address == address) return places_[i].stack.get();
    return nullptr;
  }
  /// Makes a stack if there is none. If it throws std::bad_alloc, it has no effect.
  address_stack& made(const void* address);
  /// Requires that the address is there.
  void erase(const void* address) noexcept;
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const place& p : places_)
      if (p.stack != nullptr) visit(*p.stack);
  }

 private:
  struct place {
    const void* address = nullptr;
    std::unique_ptr<address_stack> stack;  // null: free
  };
  std::size_t home_of(const void* address) const noexcept {
    return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(address) * 0x9e3779b97f4a7c15u >>
                                    shift_);
  }
  std::size_t next(std::size_t i) const noexcept { return (i + 1) & (places_.size() - 1); }
  std::size_t free_place(const void* address) const noexcept {
    std::size_t i = home_of(address);
    while (places_[i].stack != nullptr) i = next(i);
    return i;
  }
  void grow();

  std::vector<place> places_;  // the size is a power of two
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

  std::size_t all() const noexcept { return all_; }  ///< including those to come
  std::size_t coming() const noexcept { return coming_.size(); }
  std::size_t ending() const noexcept { return ending_.size(); }
  /// A digest of the registrations that end: equal on processes where the same ones end.
  std::uint64_t digest_of_ending() const noexcept;
  /// Those to come, in the order of the calls.
  registration& coming(std::size_t i) noexcept { return at(coming_[i]); }

  /// Makes the requests take effect. Calls `end`, which must not throw, with the slots of those
  /// that end, in order.
  template <class End>
  void settle(End&& end) noexcept {
    for (const place& p : coming_) {
      at(p).in_effect = true;
      stacks_.find(p.address)->find_current();
    }
    for (const place& p : ending_) end(take_out(p));
    forget_requests();
  }
  /// Drops the requests.
  void drop_requests() noexcept;
  /// The slots of all registrations in effect, in the order of their registration.
  std::vector<lpf_memslot_t> slots() const;

 private:
  struct place {
    const void* address;
    std::uint64_t number;
  };
  registration& at(const place& p) noexcept;
  lpf_memslot_t take_out(const place& p) noexcept;
  void forget_requests() noexcept {
    coming_.clear();
    ending_.clear();
    settled_ = next_;
  }

  address_table stacks_;
  std::vector<place> coming_, ending_;
  std::size_t all_ = 0;
  std::uint64_t next_ = 0, settled_ = 0;  // numbers
};

}  // namespace tutti::lpf
