// SPDX-License-Identifier: Apache-2.0
//
// How the puts and gets of a superstep get where they belong. A sync hands its box over, meets all others,
// and then takes what is for it: each process writes into its own memory alone, one message after the other,
// so writes that overlap have the result of some order of whole messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bsp/memory_register.hpp"
#include "bsp/outbox.hpp"
#include "tutti/core/port.hpp"

namespace tutti::bsp {

/// What all learn of one another when they meet: the union of these.
namespace notices {
inline constexpr std::uint64_t leaving = 1;      ///< a process has come to the end of the section
inline constexpr std::uint64_t syncing = 2;      ///< one has not
inline constexpr std::uint64_t failed = 4;       ///< one has failed
inline constexpr std::uint64_t messages = 8;     ///< there are any
inline constexpr std::uint64_t meet_again = 16;  ///< somebody's memory is read until all are through
inline constexpr std::uint64_t many_calls = 32;  ///< somebody makes more than one collective
}  // namespace notices

/// Hears of every message that is about to be carried out on this process; checks of supersteps.
class observer {
 public:
  virtual void arrives(const message& put, const area& into) = 0;
  virtual void is_read(int origin, slot of, std::size_t offset, std::size_t bytes) = 0;

 protected:
  ~observer() = default;
};

class exchange {
 public:
  virtual ~exchange() = default;
  /// Before the meeting of a superstep. Returns what the others must know of the box.
  virtual std::uint64_t hand_over(outbox& box, std::uint64_t superstep) = 0;
  /// After it. `all`: what all together know. Throws usage_error where a message does not fit its slot, which
  /// is then not written; everything else is done nevertheless.
  virtual void take(outbox& box, std::uint64_t superstep, std::uint64_t all) = 0;
};

/// The memory that a message names on this process. Adds what is wrong with it to `complaint`, and returns
/// null then.
std::byte* far_place(const memory_register& memory, const message& m, int here, std::string& complaint);

/// Collective over `all`. `boxes` are read by others until all have gone, also where a process is left by an
/// exception.
std::unique_ptr<exchange> make_exchange(detail::core& all, const memory_register& memory,
                                        std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_memory(detail::core& all, const memory_register& memory,
                                             std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_mail(detail::core& all, const memory_register& memory);

}  // namespace tutti::bsp
