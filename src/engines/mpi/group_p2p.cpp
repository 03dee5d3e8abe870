// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_p2p.hpp"

#include <cstring>

namespace tutti::mpi {

group_p2p_transport::~group_p2p_transport() {
  try {
    if (ep_.can_communicate())
      while (shm::unexpected_message* one = next("receiving")) drop(*one, dropped::unreceived);
  } catch (...) {
    // The job is failing and ends without these messages.
  }
  ep_.close_p2p(MPI_COMM_NULL, std::move(buffered_));
}

bool group_p2p_transport::post(const detail::send_args& what, transfer& t) {
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

shm::unexpected_message* group_p2p_transport::next(const char* operation) {
  if (where_.p2p_arrivals().empty()) where_.messages().poll(operation);
  if (where_.p2p_arrivals().empty()) return nullptr;
  arrived_message* const one = &arrived_.acquire();
  one->from = std::move(where_.p2p_arrivals().front());
  where_.p2p_arrivals().pop_front();
  one->source = one->from.what.source;
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
  auto& arrived = static_cast<arrived_message&>(one);
  const head& what = arrived.from.what;
  if (what.body != 0 && ep_.can_communicate())
    ep_.receive_and_discard(buffered_, what.bytes, [&](std::byte* memory, transfer& state) {
      where_.messages().receive(where_.members().address(what.source), what, memory, state, "receiving");
    });
  consume(arrived);
}

}  // namespace tutti::mpi
