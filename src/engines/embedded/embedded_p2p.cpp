// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/embedded_p2p.hpp"

#include <new>

#include "base/compute/kernels.hpp"

namespace tutti::detail {

embedded_p2p_transport::embedded_p2p_transport(context& where)
    : where_(where),
      node_(*where.ep().node()),
      pool_(node_.message_pool_of(where.ep().rank())),
      queue_(node_.p2p_queue_of(where.id(), where.ep().rank())),
      rank_(where.members().rank()),
      one_worker_(node_.workers() == 1),
      peers_((static_cast<std::size_t>(where.members().size()) + page_size - 1) / page_size) {}

embedded_p2p_transport::~embedded_p2p_transport() = default;

embedded_p2p_transport::peer& embedded_p2p_transport::find(int rank) {
  std::unique_ptr<peer[]>& page = peers_[static_cast<std::size_t>(rank) / page_size];
  if (page == nullptr) page.reset(new peer[page_size]);
  peer& entry = page[static_cast<std::size_t>(rank) % page_size];
  const int destination = where_.members().address(rank), worker = node_.worker_of(destination);
  entry.same_worker = worker == node_.worker_of(where_.ep().rank());
  entry.wakeup = entry.same_worker ? &node_.rank_wakeup(destination) : &node_.worker_wakeup(worker);
  entry.queue = node_.p2p_queue_of(where_.id(), destination);
  return entry;
}

bool embedded_p2p_transport::post(const detail::send_args& what, transfer& t) {
  static_assert(sizeof(send_state) <= sizeof(transfer));
  const bool copied = what.bytes <= shm::message_pool::max_bytes || what.mode == send_modes::buffered;
  peer& destination = to(what.destination);
  shm::queued_message& one = *pool_.acquire(copied ? what.bytes : 0);
  one.source = rank_;
  one.tag = what.tag;
  one.bytes = what.bytes;
  one.done = nullptr;
  if (copied) {
    compute::copy(one.inline_contents(), what.data, what.bytes);
    one.contents = one.inline_contents();
  } else {
    one.contents = static_cast<const std::byte*>(what.data);
  }
  const bool waits = !copied || what.mode == send_modes::synchronous;
  if (waits) {
    auto* const u = new (t.state) send_state{{0}, destination.same_worker};
    one.done = &u->done;
  }
  destination.queue->post(&one);  // the receiver owns it from here on
  node_.ring(*destination.wakeup);
  return !waits;
}

bool embedded_p2p_transport::sent(transfer& t, const shm::wait_site&) {
  return reinterpret_cast<send_state*>(t.state)->done.load(std::memory_order_acquire) != 0;
}

void embedded_p2p_transport::wait_until_sent(transfer& t, const shm::wait_site& site) {
  const auto& u = *reinterpret_cast<send_state*>(t.state);
  while (u.done.load(std::memory_order_acquire) == 0) where_.ep().wait(u.done, 1, u.same_worker, site);
}

// Writers on other workers ring the wakeup flag of this rank's worker, not that of the rank. So
// this rank waits on its own flag only if there is one worker.
void embedded_p2p_transport::wait_for_next(const shm::wait_site& site) {
  where_.ep().wait(queue_->published_word(), queue_->published_value(), one_worker_, site);
}

bool embedded_p2p_transport::receive_contents(shm::unexpected_message& one, void* into, transfer&,
                                              const char* operation) {
  auto& from = static_cast<shm::queued_message&>(one);
  if (from.done == nullptr) [[likely]] {
    compute::copy(into, from.contents, from.bytes);
    shm::message_pool::release(&from);
  } else {
    // The contents and `done` belong to the sender. It may not leave before this access has ended.
    const shm::reading guard(where_.ep(), {operation, "", "", -1, -1, shm::wait_site::unnumbered});
    compute::copy(into, from.contents, from.bytes);
    end(from);
  }
  return true;
}

// Returns the message before the sender continues, because the sender may need it at once.
void embedded_p2p_transport::end(shm::queued_message& one) noexcept {
  std::atomic<std::uint32_t>& done = *one.done;
  const int sender = where_.members().address(one.source), worker = node_.worker_of(sender);
  shm::message_pool::release(&one);
  done.store(1, std::memory_order_release);
  node_.ring(worker == node_.worker_of(where_.ep().rank()) ? node_.rank_wakeup(sender)
                                                           : node_.worker_wakeup(worker));
}

// A sender whose message is dropped unreceived keeps waiting, so the deadlock monitor reports it.
void embedded_p2p_transport::drop(shm::unexpected_message& one, dropped how) noexcept {
  auto& from = static_cast<shm::queued_message&>(one);
  if (how == dropped::unreceived || from.done == nullptr) return shm::message_pool::release(&from);
  try {
    const shm::reading guard(where_.ep(), {"receiving", "", "", -1, -1, shm::wait_site::unnumbered});
    end(from);
  } catch (...) {  // the job has failed, and the sender's wait is aborted
    shm::message_pool::release(&from);
  }
}

}  // namespace tutti::detail
