// SPDX-License-Identifier: Apache-2.0
//
// Point to point. A message of more bytes than an int counts is one item of a large type.
#include <utility>

#include "engines/mpi/mail.hpp"
#include "engines/mpi/mpi_context.hpp"

namespace tutti::mpi {
namespace {

// The lowest bits of `run`, as many as MPI has room for, beneath its top bit: calls that a composition makes
// on the communicator count from 0 as the communicator's own do, and must not meet them.
int tag_of(std::uint32_t run, int mask) noexcept {
  const std::uint32_t own = static_cast<std::uint32_t>(mask) >> 1;
  return static_cast<int>((run & own) | ((run >> 31) * (own + 1)));
}

}  // namespace

void mpi_context::isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) {
  message& m = door_.begin_message(t, false, members().address(to), bytes);
  const int tag = tag_of(run, door_.tag_mask());
  if (bytes > 0x7fffffff) [[unlikely]]
    return large(to, tag, data, bytes, m);
  const int code = MPI_Isend(data, static_cast<int>(bytes), MPI_BYTE, to, tag, comm_, &m.request);
  if (code != MPI_SUCCESS) [[unlikely]]
    refuse_start(t, code);
}

void mpi_context::irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) {
  message& m = door_.begin_message(t, true, members().address(from), bytes);
  const int tag = tag_of(run, door_.tag_mask());
  if (door_.checks()) [[unlikely]] {
    m.request = MPI_REQUEST_NULL;
    m.comm = comm_;
    m.from = from;
    m.tag = tag;
    m.into = data;
    m.unseen = true;
    return;
  }
  if (bytes > 0x7fffffff) [[unlikely]]
    return large(from, tag, data, bytes, m);
  const int code = MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, comm_, &m.request);
  if (code != MPI_SUCCESS) [[unlikely]]
    refuse_start(t, code);
}

void mpi_context::large(int peer, int tag, const void* data, std::size_t bytes, message& m) {
  MPI_Datatype type = make_large_type(bytes, "a large message", door_.rank());
  const int code = m.receives ? MPI_Irecv(const_cast<void*>(data), 1, type, peer, tag, comm_, &m.request)
                              : MPI_Isend(data, 1, type, peer, tag, comm_, &m.request);
  MPI_Type_free(&type);
  check(code, "a large message", door_.rank());
}

void mpi_context::refuse_start(transfer& t, int code) {
  door_.end_message(reinterpret_cast<const ticket*>(t.state)->row);
  throw_mpi_error(code, "a message", door_.rank());
}

std::unique_ptr<carrier> mpi_context::open_mail() {
  return std::make_unique<mpi_carrier>(*this, door_, owned_ ? std::exchange(mail_, MPI_COMM_NULL) : mail_,
                                       owned_, shared_);
}

bool mpi_context::done(transfer& t, const fabric::wait_site& site) { return door_.finished(t, site); }

// A send of a few bytes is complete before its answer comes, so the receive is polled alone as long as it is
// open.
void mpi_context::wait_both(transfer* a, transfer* b, const fabric::wait_site& site) {
  if (a != nullptr)
    while (!door_.finished(*a, site)) door_.pause(site);
  if (b != nullptr)
    while (!door_.finished(*b, site)) door_.pause(site);
}

}  // namespace tutti::mpi
