// SPDX-License-Identifier: Apache-2.0
//
// Runs simple schedules, whose steps only exchange whole blocks of the caller's buffers. No message
// is longer than a cell of a channel (4 KiB). An 8-byte allreduce by recursive doubling is an
// example, so every instruction counts. The buffers and channels of each step were found when the
// schedule was bound. Data for reports are stored only before a wait.
#include <utility>

#include "base/compute/kernels.hpp"
#include "runtime/executor/executor.hpp"

namespace tutti::detail {

// For reports only. It is not called if the message has already arrived.
shm::wait_site schedule_run::site_of(const bound_schedule& b, const bound_exchange& e, const call& c,
                                     std::uint32_t call_id, const char* what, int peer) noexcept {
  return {c.label != nullptr ? c.label : name_of(c.what).data(),
          reported_algorithm(c, b.name),
          what,
          peer,
          static_cast<int>(&e - b.exchanges.data()),
          call_id};
}

[[gnu::noinline]] void schedule_run::wait_to_send(bound_schedule& b, const bound_exchange& e, const call& c,
                                                  std::uint32_t call_id) {
  const shm::wait_site wait_at = site_of(b, e, c, call_id, "space in the channel to", e.to->to());
  do b.where.ep().wait(e.to->consumed_word(), e.to->consumed_value(), e.to->same_worker(), wait_at);
  while (!e.to->has_space());
}

// Returns null if find_small() cannot return the message, for example because a message of another
// call precedes it. receive() has then received it.
[[gnu::noinline]] const std::byte* schedule_run::wait_to_receive(bound_schedule& b, const bound_exchange& e,
                                                                 const call& c, std::uint32_t call_id) {
  shm::channel& from = *e.from;
  if (!from.has_unread()) {
    b.where.ep().wait(from.published_word(), from.published_value(), from.same_worker(),
                      site_of(b, e, c, call_id, "a message from", from.from()));
    const std::size_t bytes = static_cast<std::size_t>(e.result.blocks) * c.count * c.type.size;
    if (const std::byte* data = from.find_small(tag_of(b, call_id), bytes)) return data;
  }
  set_up(b, c, call_id);
  pc_ = static_cast<std::uint32_t>(&e - b.exchanges.data());
  receive(*e.in, from);
  return nullptr;
}

void schedule_run::run_simple(bound_schedule& b, const call& c, std::uint32_t call_id) {
  const std::size_t unit = c.count * c.type.size;
  const std::uint64_t tag = tag_of(b, call_id);
  std::byte* const base[] = {operand_of(c), static_cast<std::byte*>(c.output)};
  const auto at = [&](const block_range& r) {
    return base[static_cast<int>(r.where)] + static_cast<std::size_t>(r.first) * unit;
  };
  for (const bound_exchange& e : b.exchanges) {
    if (e.to != nullptr) {
      if (!e.to->has_space()) [[unlikely]]
        wait_to_send(b, e, c, call_id);
      e.to->post_small(tag, at(e.sent), static_cast<std::size_t>(e.sent.blocks) * unit);
    }
    if (e.from != nullptr) {
      const auto blocks = static_cast<std::size_t>(e.result.blocks);
      const std::byte* data = e.from->find_small(tag, blocks * unit);
      if (data == nullptr) {
        data = wait_to_receive(b, e, c, call_id);
        if (data == nullptr) continue;
      }
      std::byte* const result = at(e.result);
      if (!e.combines) {
        compute::copy(result, data, blocks * unit);
      } else {
        const std::byte *left = at(e.operand), *right = data;
        if (e.received_left) std::swap(left, right);
        c.op.combine(left, right, result, blocks * c.count, c.op.state);
      }
      e.from->consume_small();
    }
  }
}

}  // namespace tutti::detail
