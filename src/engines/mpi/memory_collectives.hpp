// SPDX-License-Identifier: Apache-2.0
//
// The native collectives of a communicator whose members share a node. They use the node's memory
// and no message of MPI. A call is a sequence of rounds, each of which is a call of
// node_collectives.hpp. memory_pieces.hpp divides a call into rounds. memory_rounds.hpp states what
// the members do in a round, and this class makes the steps. Long calls may go by address
// (address_calls.hpp). In some of them the members first negotiate whether the call works in shared
// buffers, by address or in rounds (negotiated_calls.hpp). Calls with blocks of varying length have
// one round and messages (varying_blocks.hpp).
//
// All members begin the same native collectives in the same order, and whether one of them is
// served depends only on what is equal on all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engines/mpi/address_calls.hpp"
#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/negotiated_calls.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/varying_blocks.hpp"
#include "transport/shm/line_exchange.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class memory_collectives {
 public:
  /// `number`: of the group (group_entry.hpp). `of`: null if no memory was left.
  memory_collectives(mpi_endpoint& ep, std::uint32_t number, std::unique_ptr<node_memory::collectives> of);
  ~memory_collectives();
  memory_collectives(const memory_collectives&) = delete;
  memory_collectives& operator=(const memory_collectives&) = delete;

  static bool has_kind(collective what) noexcept { return detail::has_memory_form(what); }
  /// False if no memory was left for the communicator.
  bool is_open() const noexcept { return of_ != nullptr; }
  int size() const noexcept { return of_->size(); }
  /// `count`: elements of the operand or of a block. Vector forms do not depend on it.
  bool serves(collective what, std::size_t count, std::size_t element_bytes) const noexcept {
    return is_open() && divide(what, is_vector_form(what) ? 0 : count, element_bytes).served;
  }
  bool serves(const call& c) const noexcept {
    // A post line holds the operand of most short calls.
    if (c.count * c.type.size <= detail::post_line_bytes && is_open() && has_kind(c.what) &&
        !detail::posts_blocks_for_all(c.what) && !is_vector_form(c.what)) [[likely]]
      return true;
    return serves(c.what, c.count, c.type.size);
  }
  /// The longest operand or block that is served, in bytes. Nothing if none is.
  std::optional<std::size_t> max_bytes(collective what, std::size_t element_bytes) const noexcept {
    if (!serves(what, 0, element_bytes)) return {};
    return detail::max_bytes_in_memory(what, element_bytes, of_->size(), slot_bytes_);
  }
  /// The longest operand of bcast() or allreduce().
  std::size_t max_direct_bytes(collective what) const noexcept {
    return what == collective::bcast ? max_direct_bcast_ : max_direct_allreduce_;
  }

  // --- blocking calls

  // They throw mismatch_error if another member makes another call, engine_error if an exception
  // has ended an earlier call before its last round, or if the node lacks memory for the operand,
  // and what mpi_endpoint::pause() throws.
  void run(const call& c);
  // The most frequent calls, in one round.
  // `c`: the call, for reports; null: that of the named kind
  void barrier(const call* c = nullptr);
  void bcast(void* data, std::size_t bytes, int root, const call* c = nullptr);
  void allreduce(const void* input, void* output, std::size_t count, std::size_t element_bytes,
                 combine_function combine, void* state, const call* c = nullptr);

  /// Makes allreduces of one element of line_exchange::bytes. They match the same calls by run() on
  /// other members. Empty, on all members, if such an allreduce needs more than one round. All
  /// results use the same operands, and this object must outlive them.
  std::optional<shm::line_exchange> lines();

  // --- calls in steps

  using progress = memory_progress;
  /// Throws engine_error if an exception has ended an earlier call before its last round.
  progress begin(const call& c);
  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, progress& p) { return advance(c, p, true); }
  /// The same, or waits if `blocking`.
  bool finish(const call& c, progress& p, bool blocking, const shm::wait_site& site);

 private:
  class waiter;
  class operand_lines;
  bool goes_by_address(const call& c, std::size_t bytes) const noexcept;
  bool advance_varying(const call& c, progress& p, bool overlaps);
  detail::call_pieces divide(collective what, std::size_t count, std::size_t element_bytes) const noexcept {
    return detail::divide(what, count, element_bytes, of_->size(), slot_bytes_);
  }
  /// `overlaps`: other calls may be under way. Then sleeping members are woken at every post.
  bool advance(const call& c, progress& p, bool overlaps);
  bool advance_in_rounds(const call& c, progress& p, bool overlaps);
  /// Throws engine_error if an exception has ended an earlier call before its last round.
  void validate(const char* operation, const call* c) const {
    if (broken_) [[unlikely]]
      throw_broken(c != nullptr ? site_of(*c) : site(operation));
  }
  [[noreturn]] void throw_broken(const shm::wait_site& site) const;
  /// The node has no memory for the operand of a call, so no later one can work.
  [[noreturn]] void throw_lack(const char* operation, const shm::lack_of_pages& lack);
  void exchange(std::byte* operands, const shm::wait_site& site);
  template <class Rounds>
  bool advance_round(const memory_round& r, progress& p, bool overlaps);
  bool is_short(const call& c, std::size_t bytes) const noexcept;
  void run_short(const call& c, std::size_t bytes);
  void run_in_rounds(const call& c);
  [[noreturn]] void throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const;
  static shm::wait_site site(const char* operation) noexcept;

  mpi_endpoint& ep_;
  std::unique_ptr<node_memory::collectives> of_;
  bool broken_ = false;
  bool has_short_calls_ = true;  // no call whose posts fit in lines goes by address or exchanges
  std::size_t slot_bytes_ = 0;
  std::size_t max_direct_bcast_ = 0, max_direct_allreduce_ = 0;
  std::unique_ptr<address_calls> by_address_;       // null: no call goes by address
  std::unique_ptr<negotiated_calls> negotiated_;    // null: no call begins with an exchange
  std::unique_ptr<varying_blocks> varying_blocks_;  // null until there is such a call
  std::uint32_t number_;                            // of the group
  std::unique_ptr<operand_lines> lines_;            // null before the first lines()
};

}  // namespace tutti::mpi
