// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/mpi_p2p.hpp"

#include <cstring>

#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

int mpi_source(int source) noexcept { return source == rank::any ? MPI_ANY_SOURCE : source; }
int mpi_tag(int tag) noexcept { return tag == tags::any ? MPI_ANY_TAG : tag; }

}  // namespace

mpi_p2p_transport::mpi_p2p_transport(context& where, mpi_endpoint& ep, MPI_Comm comm, comm_owner owner,
                                     node_p2p* node)
    : where_(where), ep_(ep), comm_(comm), owner_(owner), rank_(where.members().rank()), node_(node) {
  if (node_ != nullptr) {
    queue_ = &node_->open(static_cast<std::uint32_t>(where.id()));
    uses_mpi_ = false;
    for (int m = 0; m < where.members().size(); ++m) {
      const int there = rank_on_node(m);
      if (there < 0) {
        uses_mpi_ = uses_mpi_ || m != rank_;
        continue;
      }
      if (member_of_.size() <= static_cast<std::size_t>(there))
        member_of_.resize(static_cast<std::size_t>(there) + 1);
      member_of_[static_cast<std::size_t>(there)] = m;
    }
  }
  ep_.add_transport(*this);
}

// Unreceived messages are discarded, unless the program may still receive them. The endpoint keeps
// the sends and receives that MPI has not completed. A shared communicator may already be freed.
mpi_p2p_transport::~mpi_p2p_transport() {
  try {
    if (!shared() && ep_.can_communicate())
      while (shm::unexpected_message* one = next("receiving")) drop(*one, dropped::unreceived);
  } catch (...) {
    // The job is failing and ends without these messages.
  }
  if (node_ != nullptr) node_->close(static_cast<std::uint32_t>(where_.id()));
  ep_.remove_transport(*this);
  ep_.close_p2p(owner_ == comm_owner::context ? comm_ : MPI_COMM_NULL, std::move(buffered_));
}

// --- sending

// A short message is sent by MPI_Send, which does not wait for the receive (see eager_bytes).
bool mpi_p2p_transport::post(const detail::send_args& what, transfer& t) {
  if (node_ == nullptr && what.bytes <= eager_bytes && what.mode != send_modes::synchronous &&
      what.destination != rank_) [[likely]] {
    send_short(what);
    return true;
  }
  return post_otherwise(what, t);
}

bool mpi_p2p_transport::post_otherwise(const detail::send_args& what, transfer& t) {
  if (const int there = rank_on_node(what.destination); there >= 0)
    return node_->post(there, static_cast<std::uint32_t>(where_.id()), what, t);
  if (what.destination == rank_) ++to_self_;
  if (what.bytes <= eager_bytes && what.mode != send_modes::synchronous && what.destination != rank_)
      [[likely]] {
    send_short(what);
    return true;
  }
  if (what.mode == send_modes::buffered || (what.destination == rank_ && what.bytes <= eager_bytes_to_self &&
                                            what.mode != send_modes::synchronous)) {
    post_copy(what);
    return true;
  }
  start_send(what, what.data, t);
  return false;
}

void mpi_p2p_transport::post_copy(const detail::send_args& what) {
  ep_.release_completed(buffered_);
  buffered_message& one = buffered_.emplace_back();
  one.data.reset(new std::byte[what.bytes + 1]);
  if (what.bytes != 0) std::memcpy(one.data.get(), what.data, what.bytes);
  try {
    start_send(what, one.data.get(), one.state);
  } catch (...) {
    buffered_.pop_back();
    throw;
  }
}

void mpi_p2p_transport::start_send(const detail::send_args& what, const void* data, transfer& t) {
  message& m = ep_.begin_send(t, where_.members().address(what.destination), what.bytes);
  typed_count s = ep_.types().of(element{}, what.bytes);
  const auto send = what.mode == send_modes::synchronous ? MPI_Issend : MPI_Isend;
  const int code = send(data, s.count, s.type, what.destination, what.tag, comm_, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_start_error(t, code, what.operation);
}

void mpi_p2p_transport::throw_start_error(transfer& t, int code, const char* operation) {
  ep_.end_message(t);
  throw_mpi_error(code, operation, rank_);
}

// --- receiving

shm::unexpected_message* mpi_p2p_transport::next(const char* operation) {
  if (node_ == nullptr) return shared() ? nullptr : improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, operation);
  if (!may_have_messages_of_mpi()) return node_->next(*queue_, member_of_);
  return node_->next(*queue_, member_of_, turns_, [&] { return next_of_mpi(operation); });
}

shm::unexpected_message* mpi_p2p_transport::next_of_mpi(const char* operation) {
  matched_message* const one = improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, operation);
  if (one != nullptr && one->source == rank_ && to_self_ != 0) --to_self_;
  return one;
}

bool mpi_p2p_transport::iprobe(int source, int tag, detail::envelope& what, const char* operation) {
  int flag = 0;
  MPI_Status status;
  check(MPI_Iprobe(mpi_source(source), mpi_tag(tag), comm_, &flag, &status), operation, rank_);
  if (flag) what = {status.MPI_SOURCE, status.MPI_TAG, get_count(status, operation)};
  return flag != 0;
}

shm::unexpected_message* mpi_p2p_transport::improbe(const detail::envelope& what, const char* operation) {
  return improbe(what.source, what.tag, operation);
}

mpi_p2p_transport::matched_message* mpi_p2p_transport::improbe(int source, int tag, const char* operation) {
  int flag = 0;
  MPI_Message handle;
  MPI_Status status;
  check(MPI_Improbe(source, tag, comm_, &flag, &handle, &status), operation, rank_);
  if (!flag) return nullptr;
  matched_message* const one = &matched_.acquire();
  one->handle = handle;
  one->source = status.MPI_SOURCE;
  one->tag = status.MPI_TAG;
  one->bytes = get_count(status, operation);
  return one;
}

std::size_t mpi_p2p_transport::get_count(const MPI_Status& status, const char* operation) const {
  int bytes = 0;
  const bool has_count = MPI_Get_count(&status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes >= 0;
  return has_count ? static_cast<std::size_t>(bytes) : get_elements_x(status, operation);
}

std::size_t mpi_p2p_transport::get_elements_x(const MPI_Status& status, const char* operation) const {
  MPI_Count bytes = 0;
  check(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), operation, rank_);
  return static_cast<std::size_t>(bytes);
}

bool mpi_p2p_transport::receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                                         const char* operation) {
  if (rank_on_node(one.source) >= 0) {
    auto& arrived = static_cast<node_p2p::arrival&>(one);
    if (!node_p2p::is_whole(arrived)) [[unlikely]]
      ep_.throw_abandoned({operation, "", "", -1, -1, shm::wait_site::unnumbered});
    return node_->receive(arrived, where_.members().address(one.source), into, t);
  }
  auto& from = static_cast<matched_message&>(one);
  if (from.handle == MPI_MESSAGE_NULL) [[unlikely]]
    ep_.throw_abandoned({operation, "", "", -1, -1, shm::wait_site::unnumbered});
  if (from.bytes <= eager_bytes) {
    check(MPI_Mrecv(into, static_cast<int>(from.bytes), MPI_BYTE, &from.handle, MPI_STATUS_IGNORE), operation,
          rank_);
    from.handle = MPI_MESSAGE_NULL;
    matched_.release(from);
    return true;
  }
  imrecv(from, into, t, operation);
  return false;
}

void mpi_p2p_transport::imrecv(matched_message& from, void* into, transfer& t, const char* operation) {
  message& m = ep_.begin_receive(t, where_.members().address(from.source), from.bytes);
  typed_count s = ep_.types().of(element{}, from.bytes);
  const int code = MPI_Imrecv(into, s.count, s.type, &from.handle, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_start_error(t, code, operation);
  from.handle = MPI_MESSAGE_NULL;
  matched_.release(from);
}

// Receives the message all the same, because MPI would keep it for ever otherwise.
void mpi_p2p_transport::drop(shm::unexpected_message& one, dropped) noexcept {
  if (rank_on_node(one.source) >= 0) return node_->drop(static_cast<node_p2p::arrival&>(one));
  auto& from = static_cast<matched_message&>(one);
  if (from.handle == MPI_MESSAGE_NULL || !ep_.can_communicate()) return;
  ep_.receive_and_discard(buffered_, from.bytes, [&](std::byte* memory, transfer& state) {
    imrecv(from, memory, state, "receiving");
  });
}

void mpi_p2p_transport::discard_all() {
  for (const auto& one : matched_.all())
    if (one->handle != MPI_MESSAGE_NULL) {
      ep_.receive_and_discard(one->handle, one->bytes);
      one->handle = MPI_MESSAGE_NULL;
    }
}

// --- receives that MPI matches itself

bool mpi_p2p_transport::try_irecv(const detail::recv_args& r, transfer& t) {
  message& m = ep_.begin_receive(t, r.source < 0 ? -1 : where_.members().address(r.source), r.capacity);
  typed_count s = ep_.types().of(element{}, r.capacity);
  const int code =
      MPI_Irecv(r.into, s.count, s.type, mpi_source(r.source), mpi_tag(r.tag), comm_, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]]
    throw_start_error(t, code, r.operation);
  return true;
}

bool mpi_p2p_transport::irecv_done(transfer& t, detail::envelope& found, const shm::wait_site& site) {
  MPI_Status status;
  bool truncated = false;
  if (!ep_.test_receive(t, status, truncated, shared() ? comm_ : MPI_COMM_NULL, site)) return false;
  found.source = status.MPI_SOURCE;
  found.tag = status.MPI_TAG;
  found.bytes = truncated ? ~std::size_t{0} : get_elements_x(status, site.operation);
  return true;
}

}  // namespace tutti::mpi
