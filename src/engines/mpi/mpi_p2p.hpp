// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages of the program over MPI. Between ranks of one node they travel through
// its memory (node_p2p.hpp), unless the communicator is shared with the program. All other ones use
// MPI, usually on a communicator of their own.
//
// A matched probe (MPI_Improbe) finds every message, so its length is known before a byte is
// written. Open MPI 4.1 writes a message that is too long beyond the end of the buffer, and then
// reports the error. MPI_Mrecv or MPI_Imrecv gets the contents when the receive is known.
//
// A `shared` communicator belongs to the program, which may call MPI on it. There the transport
// takes only messages that one of its receives gets. It posts each receive whose buffer is known to
// MPI, so that receives match in the order in which they were begun. A message is an ordinary MPI
// message with the program's tag.
#pragma once

#include <memory>
#include <vector>

#include "engines/mpi/mpi_endpoint.hpp"
#include "engines/mpi/object_pool.hpp"

namespace tutti::mpi {

class mpi_p2p_transport final : public p2p_transport {
 public:
  mpi_p2p_transport(context& where, mpi_endpoint& ep, MPI_Comm comm, comm_owner owner, node_p2p* node);
  ~mpi_p2p_transport();

  int max_tag() const noexcept override { return ep_.max_tag(); }
  bool post(const detail::send_args& what, transfer& t) override;
  bool sent(transfer& t, const shm::wait_site& site) override { return finished(t, site); }
  void wait_until_sent(transfer& t, const shm::wait_site& site) override {
    while (!finished(t, site)) ep_.pause(site);
  }
  shm::unexpected_message* next(const char* operation) override;
  void wait_for_next(const shm::wait_site& site) override { ep_.pause(site); }
  bool receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                        const char* operation) override;
  bool contents_received(transfer& t, const shm::wait_site& site) override { return finished(t, site); }
  void drop(shm::unexpected_message& one, dropped how) noexcept override;

  bool shared() const noexcept override { return owner_ == comm_owner::program; }
  bool iprobe(int source, int tag, detail::envelope& what, const char* operation) override;
  shm::unexpected_message* improbe(const detail::envelope& what, const char* operation) override;

  bool try_irecv(const detail::recv_args& r, transfer& t) override;
  bool irecv_done(transfer& t, detail::envelope& found, const shm::wait_site& site) override;
  void end_receive(transfer& t) noexcept override {
    if (node_messages::owns(t)) return ep_.messages_on_node()->abandon(t);
    ep_.end_receive(t);
  }

  /// Called when the job has failed. Receives all matched messages, because their senders wait
  /// for that.
  void discard_all();

 private:
  // The code assumes that MPI_Send of up to this many bytes does not wait for the receive. The MPI
  // standard promises no such limit, but Open MPI and MPICH have a larger one by default. If a user
  // lowers their limit, such a send waits inside MPI_Send, also if it is nonblocking or buffered.
  // Meanwhile the rank makes no progress on other calls. Ranks that send to each other before they
  // receive then wait forever.
  static constexpr std::size_t eager_bytes = 1024;
  // Bytes that a rank may send itself before the receive.
  static constexpr std::size_t eager_bytes_to_self = 4096;
  struct matched_message final : shm::unexpected_message {
    MPI_Message handle = MPI_MESSAGE_NULL;
  };

  bool finished(transfer& t, const shm::wait_site& site) {
    if (node_messages::owns(t)) return ep_.finished_on_node(t, site);
    return node_p2p::owns(t) ? ep_.sent_on_node(t, site) : ep_.finished(t, site);
  }
  /// The rank on this node; -1: messages to and from the member use MPI.
  int rank_on_node(int member) const noexcept {
    return node_ != nullptr ? ep_.rank_on_node(where_.members().address(member)) : -1;
  }
  bool may_have_messages_of_mpi() const noexcept { return uses_mpi_ || to_self_ != 0; }
  [[gnu::noinline]] bool post_otherwise(const detail::send_args& what, transfer& t);
  shm::unexpected_message* next_of_mpi(const char* operation);
  void send_short(const detail::send_args& what) {
    const int code =
        MPI_Send(what.data, static_cast<int>(what.bytes), MPI_BYTE, what.destination, what.tag, comm_);
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_send_error(code, what);
  }
  [[noreturn, gnu::noinline, gnu::cold]] void throw_send_error(int code,
                                                               const detail::send_args& what) const {
    throw_mpi_error(code, what.operation, rank_);
  }
  void post_copy(const detail::send_args& what);
  matched_message* improbe(int source, int tag, const char* operation);
  void start_send(const detail::send_args& what, const void* data, transfer& t);
  std::size_t get_count(const MPI_Status& status, const char* operation) const;
  [[gnu::noinline]] std::size_t get_elements_x(const MPI_Status& status, const char* operation) const;
  void imrecv(matched_message& from, void* into, transfer& t, const char* operation);
  [[noreturn]] void throw_start_error(transfer& t, int code, const char* operation);

  context& where_;
  mpi_endpoint& ep_;
  MPI_Comm comm_;
  comm_owner owner_;
  int rank_;
  node_p2p* node_;  // null: all messages use MPI
  node_p2p::queue* queue_ = nullptr;
  std::vector<int> member_of_;  // of each rank of the node
  bool uses_mpi_ = true;        // members other than this one send through MPI
  std::size_t to_self_ = 0;     // messages of this rank to itself that it has not found yet
  unsigned turns_ = 0;
  std::vector<buffered_message> buffered_;
  object_pool<matched_message> matched_;
};

}  // namespace tutti::mpi
