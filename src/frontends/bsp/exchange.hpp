// SPDX-License-Identifier: Apache-2.0
//
// How the puts and gets of a superstep get where they belong. A sync hands its box over, meets all others,
// and then takes what is for it: each process writes into its own memory alone, one message after the other,
// so writes that overlap have the result of some order of whole messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frontends/bsp/memory_register.hpp"
#include "frontends/bsp/outbox.hpp"
#include "frontends/bsp/sync_summary.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::bsp {

class exchange {
 public:
  virtual ~exchange() = default;
  /// Before the meeting of a superstep. Returns what the others must know of the box.
  virtual std::uint32_t hand_over(outbox& box, std::uint64_t superstep) = 0;
  /// After it, where anybody has messages that do not ride. `all`: what all together know. Throws usage_error
  /// where a message does not fit its slot, which is then not written; everything else is done nevertheless.
  virtual void take(outbox& box, std::uint64_t superstep, std::uint32_t all) = 0;
};

/// Says of a message that it does not fit, in `diagnostic`, where nothing is said yet. It goes to, or gets
/// from, process `where`, whose memory is given.
void report_misfit(const memory_register& memory, const message& m, int where, std::string& diagnostic);

/// The memory that a message names there; null where it has no bytes or does not fit, which is said.
inline std::byte* far_place(const memory_register& memory, const message& m, int where,
                            std::string& diagnostic) {
  if (const area* const a = memory.find(m.far_slot, m.far_offset, m.bytes)) [[likely]]
    return a->base + m.far_offset;
  report_misfit(memory, m, where, diagnostic);
  return nullptr;
}

/// Collective over `all`. `boxes` are read by others until all have gone, also where a process is left by an
/// exception.
std::unique_ptr<exchange> make_exchange(detail::communicator_impl& all, const memory_register& memory,
                                        std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_memory(detail::communicator_impl& all, const memory_register& memory,
                                             std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_messages(detail::communicator_impl& all, const memory_register& memory);

}  // namespace tutti::bsp
