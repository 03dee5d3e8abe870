// SPDX-License-Identifier: Apache-2.0
//
// Messages of schedules. Messages between ranks of one node use its memory, all others use MPI. A
// message of more bytes than fit in an int is one item of a large type.
#include <utility>

#include "engines/mpi/mpi_context.hpp"
#include "engines/mpi/mpi_p2p.hpp"

namespace tutti::mpi {
namespace {

// The lowest bits of `run`, as many as MPI's tags can hold, below its top bit. Inner calls of a
// composition count from 0, as the communicator's own calls do. The top bit distinguishes their
// tags.
int tag_of(std::uint32_t run, int mask) noexcept {
  const std::uint32_t low_bits = static_cast<std::uint32_t>(mask) >> 1;
  return static_cast<int>((run & low_bits) | ((run >> 31) * (low_bits + 1)));
}

}  // namespace

void mpi_context::isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) {
  if (const int there = rank_on_node(to); there >= 0)
    return ep_.messages_on_node()->isend(there, tag_on_node(run), data, bytes, t);
  message& m = ep_.begin_send(t, members().address(to), bytes);
  const int tag = tag_of(run, ep_.tag_mask());
  if (bytes > 0x7fffffff) [[unlikely]]
    return large(to, tag, data, bytes, m);
  const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &m.request);
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_start_error(t, code);
}

void mpi_context::irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) {
  if (const int there = rank_on_node(from); there >= 0)
    return ep_.messages_on_node()->irecv(there, members().address(from), tag_on_node(run), data, bytes, t);
  message& m = ep_.begin_receive(t, members().address(from), bytes);
  const int tag = tag_of(run, ep_.tag_mask());
  if (ep_.checks()) [[unlikely]] {
    m.request = MPI_REQUEST_NULL;
    m.comm = comm_;
    m.from = from;
    m.tag = tag;
    m.into = data;
    m.unmatched = true;
    return;
  }
  if (bytes > 0x7fffffff) [[unlikely]]
    return large(from, tag, data, bytes, m);
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_, &m.request);
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_start_error(t, code);
}

void mpi_context::large(int peer, int tag, const void* data, std::size_t bytes, message& m) {
  MPI_Datatype type = make_large_type(bytes, "a large message", ep_.rank());
  const int code = m.receives ? MPI_Irecv(const_cast<void*>(data), 1, type, peer, tag, comm_, &m.request)
                              : MPI_Isend(data, 1, type, peer, tag, comm_, &m.request);
  MPI_Type_free(&type);
  check(code, "a large message", ep_.rank());
}

void mpi_context::throw_start_error(transfer& t, int code) {
  ep_.end_message(reinterpret_cast<const request_id*>(t.state)->index);
  throw_mpi_error(code, "a message", ep_.rank());
}

std::unique_ptr<p2p_transport> mpi_context::open_p2p() {
  MPI_Comm const comm = owner_ == comm_owner::context ? std::exchange(p2p_, MPI_COMM_NULL) : p2p_;
  // The program may receive with MPI on its own communicator, so MPI carries those messages.
  node_p2p* const node = messages_on_node_ && owner_ != comm_owner::program ? ep_.p2p_on_node() : nullptr;
  return std::make_unique<mpi_p2p_transport>(*this, ep_, comm, owner_, node);
}

bool mpi_context::done(transfer& t, const shm::wait_site& site) {
  return node_messages::owns(t) ? ep_.finished_on_node(t, site) : ep_.finished(t, site);
}

// A small send completes before the reply arrives. So the receive, which comes first, is polled
// alone while it is pending.
void mpi_context::wait_both(transfer* a, transfer* b, const shm::wait_site& site) {
  if (a != nullptr)
    while (!done(*a, site)) ep_.pause(site);
  if (b != nullptr)
    while (!done(*b, site)) ep_.pause(site);
}

}  // namespace tutti::mpi
