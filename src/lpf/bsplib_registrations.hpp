// SPDX-License-Identifier: Apache-2.0
//
// BSPlib's registrations, of one process: a stack for each address. Requests of a superstep are resolved when
// they are made, and take effect at its end, in the order in which they were made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
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

class registrations {
 public:
  /// The one in effect that the address means; null: none.
  const registration* find(const void* address) const noexcept;
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
    for (const place& p : coming_) at(p).in_effect = true;
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

  std::unordered_map<const void*, std::vector<registration>> stacks_;
  std::vector<place> coming_, ending_;
  std::size_t all_ = 0;
  std::uint64_t next_ = 0, settled_ = 0;  // numbers
};

}  // namespace tutti::lpf
