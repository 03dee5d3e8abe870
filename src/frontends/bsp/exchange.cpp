// SPDX-License-Identifier: Apache-2.0
#include "frontends/bsp/exchange.hpp"

#include <utility>

#include "communicator/internal_calls.hpp"

namespace tutti::bsp {

void report_out_of_range(const memory_register& memory, const message& m, int where,
                         std::string& diagnostic) {
  if (!diagnostic.empty()) return;  // only the first one is reported
  const area* const a = memory.find(m.remote_slot);
  diagnostic = std::string(m.kind() == message_kind::put ? "a put of " : "a get of ") +
               std::to_string(m.bytes) + " bytes by process " + std::to_string(m.origin()) +
               " names offset " + std::to_string(m.remote_offset) + " of slot " +
               std::to_string(m.remote_slot) + " of process " + std::to_string(where) + ", " +
               (a == nullptr ? std::string("which has no such slot")
                             : "which has " + std::to_string(a->size) + " bytes");
}

std::unique_ptr<exchange> make_exchange(detail::communicator_impl& all, const memory_register& memory,
                                        std::shared_ptr<outboxes> boxes) {
  return detail::shares_memory(all) ? exchange_by_memory(all, memory, std::move(boxes))
                                    : exchange_by_messages(all, memory);
}

}  // namespace tutti::bsp
