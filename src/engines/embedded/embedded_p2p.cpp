// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/embedded_p2p.hpp"

#include <new>

#include "base/compute/kernels.hpp"

namespace tutti {

embedded_p2p_transport::embedded_p2p_transport(context& where)
    : where_(where),
      node_(*where.ep().node()),
      pool_(node_.message_pool_of(where.ep().rank())),
      own_(node_.p2p_queue_of(where.id(), where.ep().rank())),
      rank_(where.members().rank()),
      one_worker_(node_.workers() == 1),
      peers_((static_cast<std::size_t>(where.members().size()) + page_size - 1) / page_size) {}

embedded_p2p_transport::~embedded_p2p_transport() = default;

embedded_p2p_transport::peer& embedded_p2p_transport::find(int rank) {
  std::unique_ptr<peer[]>& page = peers_[static_cast<std::size_t>(rank) / page_size];
  if (page == nullptr) page.reset(new peer[page_size]);
  peer& made = page[static_cast<std::size_t>(rank) % page_size];
  const int there = where_.members().address(rank), worker = node_.worker_of(there);
  made.same_worker = worker == node_.worker_of(where_.ep().rank());
  made.wakeup = made.same_worker ? &node_.rank_wakeup(there) : &node_.worker_wakeup(worker);
  made.box = node_.p2p_queue_of(where_.id(), there);
  return made;
}

bool embedded_p2p_transport::post(const detail::send_args& what, transfer& t) {
  static_assert(sizeof(under_way) <= sizeof(transfer));
  const bool travels = what.bytes <= shm::message_pool::max_bytes || what.mode == send_modes::buffered;
  peer& there = to(what.destination);
  shm::queued_message& one = *pool_.take(travels ? what.bytes : 0);
  one.source = rank_;
  one.tag = what.tag;
  one.bytes = what.bytes;
  one.done = nullptr;
  if (travels) {
    compute::copy(one.own_place(), what.data, what.bytes);
    one.contents = one.own_place();
  } else {
    one.contents = static_cast<const std::byte*>(what.data);
  }
  const bool waits = !travels || what.mode == send_modes::synchronous;
  if (waits) {
    auto* const u = new (t.state) under_way{{0}, there.same_worker};
    one.done = &u->done;
  }
  there.box->post(&one);  // the receiver owns it from here on
  node_.ring(*there.wakeup);
  return !waits;
}

bool embedded_p2p_transport::sent(transfer& t, const shm::wait_site&) {
  return reinterpret_cast<under_way*>(t.state)->done.load(std::memory_order_acquire) != 0;
}

void embedded_p2p_transport::wait_until_sent(transfer& t, const shm::wait_site& site) {
  const auto& u = *reinterpret_cast<under_way*>(t.state);
  while (u.done.load(std::memory_order_acquire) == 0) where_.ep().wait(u.done, 1, u.same_worker, site);
}

// Writers on other workers ring the wakeup flag of this rank's worker, not that of the rank. So
// this rank waits on its own flag only if there is one worker.
void embedded_p2p_transport::wait_for_next(const shm::wait_site& site) {
  where_.ep().wait(own_->arrival_word(), own_->arrival_value(), one_worker_, site);
}

bool embedded_p2p_transport::open(shm::unexpected_message& one, void* into, transfer&,
                                  const char* operation) {
  auto& from = static_cast<shm::queued_message&>(one);
  if (from.done == nullptr) [[likely]] {
    compute::copy(into, from.contents, from.bytes);
    shm::message_pool::give_back(&from);
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
  const int there = where_.members().address(one.source), worker = node_.worker_of(there);
  shm::message_pool::give_back(&one);
  done.store(1, std::memory_order_release);
  node_.ring(worker == node_.worker_of(where_.ep().rank()) ? node_.rank_wakeup(there)
                                                           : node_.worker_wakeup(worker));
}

// A sender whose message is dropped unreceived keeps waiting, so the deadlock monitor reports it.
void embedded_p2p_transport::drop(shm::unexpected_message& one, bool received) noexcept {
  auto& from = static_cast<shm::queued_message&>(one);
  if (!received || from.done == nullptr) return shm::message_pool::give_back(&from);
  try {
    const shm::reading guard(where_.ep(), {"receiving", "", "", -1, -1, shm::wait_site::unnumbered});
    end(from);
  } catch (...) {  // the job has failed, and the sender's wait is aborted
    shm::message_pool::give_back(&from);
  }
}

}  // namespace tutti
