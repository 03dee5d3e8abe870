// SPDX-License-Identifier: Apache-2.0
//
// BSPlib's registrations, of one process: a stack for each address. Requests of a superstep are resolved when
// they are made, and take effect at its end, in the order in which they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

/// How others are told of a registration of null.
inline constexpr std::size_t size_of_null = ~std::size_t{0};

struct registration {
  const void* address;
  std::size_t size;
  std::uint64_t number;  ///< the same on all processes
  lpf_memslot_t slot;    ///< once it is in effect
  bool in_effect;
  bool ending;
  std::vector<std::size_t> sizes;  ///< on all processes; in safe mode
};

/// The registrations of one address, of which the last is on top.
struct address_stack {
  const void* address;
  const registration* current = nullptr;  ///< the last in effect; null: none
  std::vector<std::unique_ptr<registration>> all;

  void find_current() noexcept {
    current = nullptr;
    for (auto r = all.rbegin(); r != all.rend() && current == nullptr; ++r)
      if ((*r)->in_effect) current = r->get();
  }
};

/// Stacks by their addresses: open addressing with linear probing, at most half full, so that a lookup is a
/// multiplication and an access or two.
class address_table {
 public:
  address_stack* find(const void* address) const noexcept {
    if (places_.empty()) return nullptr;
    for (std::size_t i = home_of(address); places_[i].stack != nullptr; i = next(i))
      if (places_[i].address == address) return places_[i].stack.get();
    return nullptr;
  }
  /// Makes one where there is none. Throws std::bad_alloc, and has done nothing then.
  address_stack& made(const void* address);
  /// Of an address that is there.
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

  std::vector<place> places_;  // a power of two
  std::size_t used_ = 0;
  unsigned shift_ = 64;
};

class registrations {
 public:
  /// The one in effect that the address means; null: none.
  const registration* find(const void* address) const noexcept {
    const address_stack* const stack = stacks_.find(address);
    return stack == nullptr ? nullptr : stack->current;
  }
  /// `processes`: of whom it will hold the sizes. Throws std::bad_alloc, and has done nothing then.
  void push(const void* address, std::size_t size, std::size_t processes);
  /// False: there is none. Throws std::bad_alloc.
  bool pop(const void* address);

  std::size_t all() const noexcept { return all_; }  ///< also those to come
  std::size_t coming() const noexcept { return coming_.size(); }
  std::size_t ending() const noexcept { return ending_.size(); }
  /// Tells which end: the same on processes where the same do.
  std::uint64_t digest_of_ending() const noexcept;
  /// Those to come, in the order of the calls.
  registration& coming(std::size_t i) noexcept { return at(coming_[i]); }

  /// The requests take effect. `end`, which throws nothing, is given the slots of those that end, in order.
  template <class End>
  void settle(End&& end) noexcept {
    for (const place& p : coming_) {
      at(p).in_effect = true;
      stacks_.find(p.address)->find_current();
    }
    for (const place& p : ending_) end(take_out(p));
    forget_requests();
  }
  /// The requests are dropped.
  void drop_requests() noexcept;
  /// The slots of all in effect, in the order of their registration.
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
