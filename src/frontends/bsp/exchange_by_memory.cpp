// SPDX-License-Identifier: Apache-2.0
//
// The exchange between processes that share memory. Each process has two inboxes, which take turns
// as the outboxes do. Before the summaries are combined, a process links runs of its puts into the
// inboxes of the receivers. Afterwards the receivers read them. Small puts carry their bytes, so
// that their sender may continue at once. After larger puts and after gets, which read the other's
// memory, all processes pass a second barrier. A superstep costs a process what it sends and
// receives, and the exchange of the summaries.
#include <atomic>
#include <utility>
#include <vector>

#include "base/compute/kernels.hpp"
#include "communicator/internal_calls.hpp"
#include "frontends/bsp/exchange.hpp"

namespace tutti::bsp {
namespace {

struct alignas(64) inbox_entry {
  std::atomic<message*> inbox[2] = {nullptr, nullptr};
  const memory_register* memory = nullptr;
  std::shared_ptr<outboxes> boxes;
};
using inbox_table = std::vector<inbox_entry>;

class by_memory final : public exchange {
 public:
  by_memory(detail::communicator_impl& all, const memory_register& memory, std::shared_ptr<outboxes> boxes)
      : all_(all), ep_(detail::endpoint_of(all)), me_(detail::rank_of(all)) {
    // Process 0 makes the table for all. The barrier below ensures that all have filled in their
    // entry.
    std::shared_ptr<inbox_table> made;
    if (me_ == 0) made = std::make_shared<inbox_table>(static_cast<std::size_t>(detail::size_of(all)));
    std::shared_ptr<inbox_table>* address = &made;
    call bcast;
    bcast.what = collective::bcast;
    bcast.type = element_of<std::uint64_t>();
    bcast.count = 1;
    bcast.input = bcast.output = &address;
    detail::run_call(all, bcast);
    inboxes_ = *address;
    inbox_entry& mine = inbox_of(me_);
    mine.memory = &memory;
    mine.boxes = std::move(boxes);
    detail::run_call(all, call());  // a barrier
  }

  std::uint32_t hand_over(outbox& box, std::uint64_t superstep) override {
    if (box.empty()) return 0;
    std::uint32_t flags = summaries::messages;
    message* run = nullptr;  // the first message of the current run
    message* last = nullptr;
    for (message& m : box) {
      if (m.kind() == message_kind::get) {
        flags |= summaries::second_barrier;
        continue;
      }
      m.next = nullptr;
      if (!copy_payload(box, m)) flags |= summaries::second_barrier;
      if (last != nullptr && last->peer == m.peer) {
        last->next = &m;
      } else {
        if (run != nullptr) push(*run, superstep);
        run = &m;
      }
      last = &m;
    }
    if (run != nullptr) push(*run, superstep);
    return flags;
  }

  void deliver(outbox& box, std::uint64_t superstep, std::uint32_t all) override {
    std::string diagnostic;
    {
      const shm::wait_site site{
          .operation = "sync", .what = "a direct read from the memory of", .run = superstep};
      const shm::reading guard(ep_, site);
      const inbox_entry& mine = inbox_of(me_);
      for (message* run = inbox_of(me_).inbox[superstep % 2].exchange(nullptr, std::memory_order_acquire);
           run != nullptr;) {
        message* const next_run = run->next_run;
        for (const message* m = run; m != nullptr; m = m->next)
          if (std::byte* const into = remote_address(*mine.memory, *m, me_, diagnostic))
            compute::copy(into, m->source, m->bytes);
        run = next_run;
      }
      for (const message& m : box)
        if (m.kind() == message_kind::get)
          if (const std::byte* const from = remote_address(*inbox_of(m.peer).memory, m, m.peer, diagnostic))
            compute::copy(m.target, from, m.bytes);
    }
    if ((all & summaries::second_barrier) != 0) detail::run_call(all_, call());  // a barrier
    if (!diagnostic.empty())
      detail::reject(all_, "sync", "offset", diagnostic,
                     "register more memory on that process, and sync before you use it");
  }

 private:
  inbox_entry& inbox_of(int process) const noexcept { return (*inboxes_)[static_cast<std::size_t>(process)]; }

  // Copies the bytes of a put into the message or the outbox. Returns false if there is no space.
  static bool copy_payload(outbox& box, message& m) noexcept {
    std::byte* const copy = m.bytes <= sizeof m.inline_data ? m.inline_data : box.allocate_payload(m.bytes);
    if (copy == nullptr) return false;
    compute::copy(copy, m.source, m.bytes);
    m.source = copy;
    return true;
  }

  void push(message& run, std::uint64_t superstep) const noexcept {
    std::atomic<message*>& inbox = inbox_of(run.peer).inbox[superstep % 2];
    run.next_run = inbox.load(std::memory_order_relaxed);
    while (!inbox.compare_exchange_weak(run.next_run, &run, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }

  detail::communicator_impl& all_;
  endpoint& ep_;
  int me_;
  std::shared_ptr<inbox_table> inboxes_;
};

}  // namespace

std::unique_ptr<exchange> exchange_by_memory(detail::communicator_impl& all, const memory_register& memory,
                                             std::shared_ptr<outboxes> boxes) {
  return std::make_unique<by_memory>(all, memory, std::move(boxes));
}

}  // namespace tutti::bsp
