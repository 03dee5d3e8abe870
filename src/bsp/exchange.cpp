// SPDX-License-Identifier: Apache-2.0
#include "bsp/exchange.hpp"

#include <utility>

#include "face/core.hpp"

namespace tutti::bsp {

std::byte* far_place(const memory_register& memory, const message& m, int here, std::string& complaint) {
  const area* a = memory.find(m.far_slot);
  if (a != nullptr && m.bytes <= a->size && m.far_offset <= a->size - m.bytes) [[likely]]
    return a->base + m.far_offset;
  if (!complaint.empty()) return nullptr;  // the first is enough
  complaint = std::string(m.way() == direction::put ? "a put of " : "a get of ") + std::to_string(m.bytes) +
              " bytes by process " + std::to_string(m.origin()) + " names offset " +
              std::to_string(m.far_offset) + " of slot " + std::to_string(m.far_slot) + " of process " +
              std::to_string(here) + ", " +
              (a == nullptr ? std::string("which has no such slot")
                            : "which has " + std::to_string(a->size) + " bytes");
  return nullptr;
}

std::unique_ptr<exchange> make_exchange(detail::core& all, const memory_register& memory,
                                        std::shared_ptr<outboxes> boxes) {
  return all.door().node() != nullptr ? exchange_by_memory(all, memory, std::move(boxes))
                                      : exchange_by_mail(all, memory);
}

}  // namespace tutti::bsp
