// SPDX-License-Identifier: Apache-2.0
//
// Moves the puts and gets of a superstep. A sync hands its outbox over, combines the summaries of
// all processes, and then delivers the messages to this process. Each process writes only into its
// own memory, one message after the other. So overlapping writes have the result of some order of
// whole messages.
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
  /// Called before the summaries are combined. Returns the flags of this outbox for the summary.
  virtual std::uint32_t hand_over(outbox& box, std::uint64_t superstep) = 0;
  /// Called after the summaries are combined, if any process has messages outside the summary.
  /// `all`: the combined flags. Throws usage_error if a message exceeds its slot, which is not
  /// written then. Everything else is still done.
  virtual void deliver(outbox& box, std::uint64_t superstep, std::uint32_t all) = 0;
};

/// Describes in `diagnostic` that a message exceeds its slot, if `diagnostic` is empty. The message
/// writes or reads the memory of process `where`, which is `memory`.
void report_out_of_range(const memory_register& memory, const message& m, int where, std::string& diagnostic);

/// The memory that a message names on process `where`. Returns null if the slot does not exist or
/// is too small, and describes that in `diagnostic`.
inline std::byte* remote_address(const memory_register& memory, const message& m, int where,
                                 std::string& diagnostic) {
  if (const area* const a = memory.find(m.remote_slot, m.remote_offset, m.bytes)) [[likely]]
    return a->base + m.remote_offset;
  report_out_of_range(memory, m, where, diagnostic);
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
