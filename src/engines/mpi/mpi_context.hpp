// SPDX-License-Identifier: Apache-2.0
//
// A communicator over MPI. It has an MPI_Comm of its own, so its messages match no others. The tag
// identifies the collective call.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engines/mpi/memory_collectives.hpp"
#include "engines/mpi/mpi_endpoint.hpp"

namespace tutti::mpi {

/// Data in MPI's form that MPI reads until a call is complete, if the caller has another form.
struct converted_arrays {
  std::vector<int> in_counts, in_displs, out_counts, out_displs;
  std::vector<std::byte> operand;
};

class mpi_context final : public context {
 public:
  mpi_context(mpi_endpoint& ep, const group& members, std::uint64_t id, MPI_Comm comm, MPI_Comm p2p,
              comm_owner owner)
      : context(ep, members, id),
        ep_(ep),
        comm_(comm),
        p2p_(p2p),
        rank_(members.rank()),
        owner_(owner),
        messages_on_node_(ep.messages_on_node() != nullptr && id < node_messages::first_group_id) {}
  ~mpi_context() {
    if (owner_ != comm_owner::context) return;
    ep_.free_comm(comm_);
    if (p2p_ != MPI_COMM_NULL) ep_.free_comm(p2p_);
  }
  MPI_Comm comm() const noexcept { return comm_; }

  void isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) override;
  void irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) override;
  bool done(transfer& t, const shm::wait_site& site) final;
  std::unique_ptr<p2p_transport> open_p2p() override;
  void wait_both(transfer* a, transfer* b, const shm::wait_site& site) override;

  native_offer offers(const agreed_signature& s) const noexcept override;
  std::optional<std::size_t> native_in_memory(const agreed_signature& s) const noexcept override;
  void native(const call& c, const shm::wait_site& site) override;
  ready_native make_ready(const call& c) override;
  void native_begin(const call& c, native_state& s) override;
  bool native_progress(native_state& s, bool blocking, const shm::wait_site& site) override;
  std::optional<shm::line_exchange> lines() override;

 private:
  /// The rank on this node; -1: messages to and from the member use MPI.
  int rank_on_node(int member) const noexcept {
    return messages_on_node_ ? ep_.rank_on_node(members().address(member)) : -1;
  }
  /// No other communicator or group of two ranks has the same id (node_messages::first_group_id).
  std::uint64_t tag_on_node(std::uint32_t run) const noexcept {
    return node_messages::tag_of_schedule(static_cast<std::uint32_t>(id()), run);
  }
  struct native_in_progress;
  /// The first call of a kind that they serve opens them. Null: MPI runs all calls of this kind.
  memory_collectives* memory_collectives_for(collective what) const {
    if (!memory_collectives::has_kind(what)) return nullptr;
    if (!memory_requested_) [[unlikely]]
      open_memory_collectives();
    return in_memory_.get();
  }
  /// Null: MPI runs this call.
  memory_collectives* memory_collectives_for(const call& c) const {
    memory_collectives* const one = memory_collectives_for(c.what);
    return one != nullptr && one->serves(c) ? one : nullptr;
  }
  void open_memory_collectives() const;
  struct ready_state;
  void begin_and_wait(const call& c, const shm::wait_site& site);
  template <class Start>
  std::size_t start(const call& c, std::size_t from, converted_arrays* arrays, const Start& issue);
  // Functions that need arrays are kept out of line of the others.
  template <class Start>
  [[gnu::noinline]] void start_reduce_from_copy(const call& c, std::size_t from, std::size_t n,
                                                converted_arrays* arrays, const Start& issue);
  template <class Start>
  [[gnu::noinline]] void start_blocks(const call& c, const Start& issue);
  template <class Start>
  [[gnu::noinline]] void start_vectors(const call& c, converted_arrays* arrays, const Start& issue);
  const int* ints(const counts_view& v, const char* parameter, std::vector<int>& converted);
  const int* displacements(const counts_view& displs, const int* counts, const char* parameter,
                           std::vector<int>& converted);
  void large(int peer, int tag, const void* data, std::size_t bytes, message& m);
  [[noreturn]] void throw_start_error(transfer& t, int code);
  std::size_t part(const call& c, std::size_t from) const noexcept;
  void ok(int code, const call& c) const {
    if (code != MPI_SUCCESS) [[unlikely]]
      throw_mpi_error(code, name_of(c.what).data(), ep_.rank());
  }

  mpi_endpoint& ep_;
  MPI_Comm comm_, p2p_;  // p2p_: for the program's messages; null: the transport has it
  int rank_;
  comm_owner owner_;
  bool messages_on_node_;
  mutable bool memory_requested_ = false;
  mutable std::optional<group_entry> entry_;  // made with in_memory_, which uses it
  mutable std::unique_ptr<memory_collectives> in_memory_;
};

}  // namespace tutti::mpi
