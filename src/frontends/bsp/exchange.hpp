// SPDX-License-Identifier: Apache-2.0
//
// Moves the puts and gets of a superstep. A sync hands its outbox over, exchanges summaries with
// all others, and then takes the messages for this process. Each process writes only into its own
// memory, one message after the other. So overlapping writes have the result of some order of whole
// messages.
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
  /// Called before the meeting of a superstep. Returns the flags that the others must know about
  /// this outbox.
  virtual std::uint32_t hand_over(outbox& box, std::uint64_t superstep) = 0;
  /// Called after the meeting, if any process has messages outside the summary. `all`: the combined
  /// flags. Throws usage_error if a message does not fit its slot, which is not written then.
  /// Everything else is still done.
  virtual void take(outbox& box, std::uint64_t superstep, std::uint32_t all) = 0;
};

/// Describes in `diagnostic` that a message does not fit, if `diagnostic` is empty. The message
/// goes to, or reads from, process `where`, whose memory is given.
void report_misfit(const memory_register& memory, const message& m, int where, std::string& diagnostic);

/// The memory that a message names on process `where`. Null if it has no bytes or does not fit,
/// which is reported.
inline std::byte* far_place(const memory_register& memory, const message& m, int where,
                            std::string& diagnostic) {
  if (const area* const a = memory.find(m.far_slot, m.far_offset, m.bytes)) [[likely]]
    return a->base + m.far_offset;
  report_misfit(memory, m, where, diagnostic);
  return nullptr;
}

/// Collective over `all`. Other processes read `boxes` until all have left, even if a process
/// leaves by an exception.
std::unique_ptr<exchange> make_exchange(detail::communicator_impl& all, const memory_register& memory,
                                        std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_memory(detail::communicator_impl& all, const memory_register& memory,
                                             std::shared_ptr<outboxes> boxes);
std::unique_ptr<exchange> exchange_by_messages(detail::communicator_impl& all, const memory_register& memory);

}  // namespace tutti::bsp
