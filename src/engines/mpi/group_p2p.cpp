// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_p2p.hpp"

#include <cstring>

namespace tutti::mpi {

group_p2p_transport::group_p2p_transport(group_context& where, mpi_endpoint& ep, node_p2p* node)
    : where_(where), ep_(ep), node_(node) {
  if (node_ != nullptr) open_on_node();
}

// Only members that this one knows send messages to it.
void group_p2p_transport::open_on_node() {
  const group& members = where_.members();
  bool uses_mpi = false;
  for (int m = 0; m < members.size(); ++m) {
    if (m == members.rank() || !members.is_known(m)) continue;
    const int there = where_.rank_on_node(m);
    uses_mpi = uses_mpi || there < 0;
    if (there < 0) continue;
    if (member_of_.size() <= static_cast<std::size_t>(there))
      member_of_.resize(static_cast<std::size_t>(there) + 1);
    member_of_[static_cast<std::size_t>(there)] = m;
  }
  if (member_of_.empty()) return;
  queue_ = &node_->open(where_.id_on_node());
  uses_mpi_ = uses_mpi;
}

group_p2p_transport::~group_p2p_transport() {
  try {
    if (ep_.can_communicate())
      while (shm::unexpected_message* one = next("receiving")) drop(*one, dropped::unreceived);
  } catch (...) {
    // The job is failing and ends without these messages.
  }
  if (queue_ != nullptr) node_->close(where_.id_on_node());
  ep_.close_p2p(MPI_COMM_NULL, std::move(buffered_));
}

bool group_p2p_transport::post(const detail::send_args& what, transfer& t) {
  if (const int there = rank_on_node(what.destination); there >= 0) {
    where_.note_message_to(there);
    return node_->post(there, where_.id_on_node(), what, t);
  }
  if (what.destination == where_.members().rank()) ++to_self_;
  const int to = where_.members().address(what.destination);
  const head first{
      where_.name(), what.bytes, where_.members().rank(), static_cast<std::uint32_t>(what.tag), 0, 1};
  if (what.mode != send_modes::buffered || what.bytes <= group_messages::inline_bytes)
    return where_.messages().send(to, first, what.data, what.mode, t, what.operation);
  ep_.release_completed(buffered_);
  buffered_message& one = buffered_.emplace_back();
  try {
    one.data.reset(new std::byte[what.bytes]);
    std::memcpy(one.data.get(), what.data, what.bytes);
    where_.messages().send(to, first, one.data.get(), send_modes::standard, one.state, what.operation);
  } catch (...) {
    buffered_.pop_back();
    throw;
  }
  return true;
}

bool group_p2p_transport::sent(transfer& t, const shm::wait_site& site) {
  if (node_messages::owns(t)) return ep_.finished_on_node(t, site);
  if (node_p2p::owns(t)) return ep_.sent_on_node(t, site);
  where_.messages().poll(site.operation);
  return ep_.finished(t, site);
}

shm::unexpected_message* group_p2p_transport::next(const char* operation) {
  if (queue_ == nullptr) return next_of_mpi(operation);
  if (!uses_mpi_ && to_self_ == 0) return node_->next(*queue_, member_of_);
  return node_->next(*queue_, member_of_, turns_, [&] { return next_of_mpi(operation); });
}

shm::unexpected_message* group_p2p_transport::next_of_mpi(const char* operation) {
  if (where_.p2p_arrivals().empty()) where_.messages().poll(operation);
  if (where_.p2p_arrivals().empty()) return nullptr;
  arrived_message* const one = &arrived_.acquire();
  one->from = std::move(where_.p2p_arrivals().front());
  where_.p2p_arrivals().pop_front();
  one->source = one->from.what.source;
  if (one->source == where_.members().rank() && to_self_ != 0) --to_self_;
  one->tag = static_cast<int>(one->from.what.number);
  one->bytes = one->from.what.bytes;
  return one;
}

void group_p2p_transport::consume(arrived_message& one) noexcept {
  one.from.contents.reset();
  arrived_.release(one);
}

bool group_p2p_transport::receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                                           const char* operation) {
  if (rank_on_node(one.source) >= 0) {
    auto& arrived = static_cast<node_p2p::arrival&>(one);
    if (!node_p2p::is_whole(arrived)) [[unlikely]]
      ep_.throw_abandoned({operation, "", "", -1, -1, shm::wait_site::unnumbered});
    return node_->receive(arrived, where_.members().address(one.source), into, t);
  }
  auto& arrived = static_cast<arrived_message&>(one);
  const head& what = arrived.from.what;
  const bool contents_inline = what.body == 0;
  if (!contents_inline)
    where_.messages().receive(where_.members().address(what.source), what, into, t, operation);
  else if (what.bytes != 0)
    std::memcpy(into, arrived.from.contents.get(), what.bytes);
  consume(arrived);
  return contents_inline;
}

// Contents with a tag of their own must still be received, because their sender waits for that.
void group_p2p_transport::drop(shm::unexpected_message& one, dropped) noexcept {
  if (rank_on_node(one.source) >= 0) return node_->drop(static_cast<node_p2p::arrival&>(one));
  auto& arrived = static_cast<arrived_message&>(one);
  const head& what = arrived.from.what;
  if (what.body != 0 && ep_.can_communicate())
    ep_.receive_and_discard(buffered_, what.bytes, [&](std::byte* memory, transfer& state) {
      where_.messages().receive(where_.members().address(what.source), what, memory, state, "receiving");
    });
  consume(arrived);
}

}  // namespace tutti::mpi
