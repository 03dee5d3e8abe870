// SPDX-License-Identifier: Apache-2.0
//
// The exchange between processes that share memory. Each process has two inboxes, which take turns
// as the outboxes do. Before the meeting, a process links runs of its puts into the inboxes of
// their targets. After it, the targets read them. Small puts carry their bytes, so that their
// sender may continue at once. After larger puts and after gets, which read the other's memory, all
// processes pass a second barrier. A superstep costs a process what it sends and receives, and the
// meeting.
#include <atomic>
#include <utility>
#include <vector>

#include "base/compute/kernels.hpp"
#include "communicator/internal_calls.hpp"
#include "frontends/bsp/exchange.hpp"

namespace tutti::bsp {
namespace {

struct alignas(64) inbox_slot {
  std::atomic<message*> inbox[2] = {nullptr, nullptr};
  const memory_register* memory = nullptr;
  std::shared_ptr<outboxes> boxes;
};
using board = std::vector<inbox_slot>;

class by_memory final : public exchange {
 public:
  by_memory(detail::communicator_impl& all, const memory_register& memory, std::shared_ptr<outboxes> boxes)
      : all_(all), ep_(detail::endpoint_of(all)), me_(detail::rank_of(all)) {
    // Process 0 makes the board for all. The barrier below ensures that all have filled in their
    // slot.
    std::shared_ptr<board> made;
    if (me_ == 0) made = std::make_shared<board>(static_cast<std::size_t>(detail::size_of(all)));
    std::shared_ptr<board>* where = &made;
    call tell;
    tell.what = collective::bcast;
    tell.type = element_of<std::uint64_t>();
    tell.count = 1;
    tell.input = tell.output = &where;
    detail::run_call(all, tell);
    board_ = *where;
    inbox_slot& mine = (*board_)[static_cast<std::size_t>(me_)];
    mine.memory = &memory;
    mine.boxes = std::move(boxes);
    call meet;
    detail::run_call(all, meet);
  }

  std::uint32_t hand_over(outbox& box, std::uint64_t superstep) override {
    if (box.empty()) return 0;
    std::uint32_t say = summaries::messages;
    message* run = nullptr;  // the first message of the current run
    message* last = nullptr;
    for (message& m : box) {
      if (m.way() == direction::get) {
        say |= summaries::meet_again;
        continue;
      }
      m.next = nullptr;
      if (!apply_puts(box, m)) say |= summaries::meet_again;
      if (last != nullptr && last->peer == m.peer) {
        last->next = &m;
      } else {
        if (run != nullptr) push(*run, superstep);
        run = &m;
      }
      last = &m;
    }
    if (run != nullptr) push(*run, superstep);
    return say;
  }

  void take(outbox& box, std::uint64_t superstep, std::uint32_t all) override {
    std::string diagnostic;
    {
      const shm::wait_site site{
          .operation = "sync", .what = "a direct read from the memory of", .run = superstep};
      const shm::reading others(ep_, site);
      const inbox_slot& mine = inbox_slot_of(me_);
      for (message* run =
               inbox_slot_of(me_).inbox[superstep % 2].exchange(nullptr, std::memory_order_acquire);
           run != nullptr;) {
        message* const below = run->below;
        for (const message* m = run; m != nullptr; m = m->next)
          if (std::byte* const into = far_place(*mine.memory, *m, me_, diagnostic))
            compute::copy(into, m->reads, m->bytes);
        run = below;
      }
      for (const message& m : box)
        if (m.way() == direction::get)
          if (const std::byte* const from = far_place(*inbox_slot_of(m.peer).memory, m, m.peer, diagnostic))
            compute::copy(m.writes, from, m.bytes);
    }
    if ((all & summaries::meet_again) != 0) detail::run_call(all_, call());
    if (!diagnostic.empty())
      detail::refuse(all_, "sync", "offset", diagnostic,
                     "register more memory on that process, and sync before you use it");
  }

 private:
  inbox_slot& inbox_slot_of(int process) const noexcept {
    return (*board_)[static_cast<std::size_t>(process)];
  }

  // Copies the bytes of a put into the message or the outbox. Returns false if there is no room.
  static bool apply_puts(outbox& box, message& m) noexcept {
    std::byte* const room = m.bytes <= sizeof m.inside ? m.inside : box.room(m.bytes);
    if (room == nullptr) return false;
    compute::copy(room, m.reads, m.bytes);
    m.reads = room;
    return true;
  }

  void push(message& run, std::uint64_t superstep) const noexcept {
    std::atomic<message*>& inbox = inbox_slot_of(run.peer).inbox[superstep % 2];
    run.below = inbox.load(std::memory_order_relaxed);
    while (
        !inbox.compare_exchange_weak(run.below, &run, std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  detail::communicator_impl& all_;
  endpoint& ep_;
  int me_;
  std::shared_ptr<board> board_;
};

}  // namespace

std::unique_ptr<exchange> exchange_by_memory(detail::communicator_impl& all, const memory_register& memory,
                                             std::shared_ptr<outboxes> boxes) {
  return std::make_unique<by_memory>(all, memory, std::move(boxes));
}

}  // namespace tutti::bsp
