// SPDX-License-Identifier: Apache-2.0
//
// The part of a call that needs no types, in the library: checks of counts, and the exchanges that find the
// counts which a caller left out. An exchange is one more collective on the same communicator, of one
// std::size_t a rank. A rank that sees a fault of its own takes part with a mark in place of its count, so
// that all ranks throw and the communicator stays usable.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tutti/core/call.hpp"
#include "tutti/core/layout.hpp"
#include "tutti/core/port.hpp"
#include "tutti/face/form.hpp"
#include "tutti/face/table.hpp"

namespace tutti::detail {

/// Which call this is, on what communicator: all that a message of its own arguments' faults needs. Two
/// registers, so that on the usual way, where nobody asks, it is nowhere.
struct caller {
  core& where;
  call_name name;
};

/// The same of a collective, with the numbers of ranks and blocks.
struct call_site : caller {
  collective what;
  int rank, size;
  int gives, takes;     // blocks: one for each rank, or neighbour, or rank of the other group
  int first_group = 0;  // ranks of the first of two groups
  int default_root = 0;

  int blocks(parameter name) const noexcept {
    return name == parameter::recv_counts || name == parameter::recv_displs ? takes : gives;
  }
  /// Of the root's own group where the call goes to the other.
  bool beside(int root) const noexcept {
    return first_group != 0 && (rank < first_group) == (root < first_group) && rank != root;
  }
  int local_rank() const noexcept { return rank < first_group ? rank : rank - first_group; }
};

/// Throws usage_error in the name of the call.
[[noreturn]] void refuse_call(caller, parameter, std::string_view problem, const char* remedy);

/// Throws mismatch_error: what is received as NAME is not what was sent.
[[noreturn]] void refuse_message(caller, parameter, std::string_view problem);

/// One element is received into NAME, but the message has n.
[[noreturn]] void refuse_several(caller, parameter, std::size_t n);
/// What was to be a default of the communicator cannot be one.
[[noreturn]] void refuse_default(core&, const char* operation, const char* parameter, int value);
/// The root is no rank.
[[noreturn]] void refuse_root(caller, int root);
/// A buffer that is null, with a count of n.
[[noreturn]] void refuse_null(caller, parameter, std::size_t n);
/// recv_count is `given` where blocks of n elements are sent.
[[noreturn]] void refuse_received(caller, long long given, std::size_t n);

/// NAME: "holds 3 elements, but 5 are needed".
[[noreturn]] void refuse_size(caller, parameter, std::size_t holds, std::size_t needed);

/// values_on_rank_0 has neither one value nor one for each of n elements.
[[noreturn]] void refuse_values(caller, std::size_t values, std::size_t n);

/// NAME: would have to hold more than an address can count.
[[noreturn]] void refuse_room(caller, parameter, std::size_t needed);

/// Throws where a count is negative, or beyond what the buffer holds.
std::size_t checked_count(caller, parameter, long long count);
void check_within(caller, parameter, std::size_t wanted, std::size_t holds);
/// The same of blocks whose end is given: names displs_name where they would fit without displacements.
void check_blocks_within(caller, parameter counts_name, const counts_view& counts, parameter displs_name,
                         std::size_t end, std::size_t holds);

/// A buffer of p blocks that p does not divide is refused. Returns the length of a block.
std::size_t divided(const call_site&, parameter, std::size_t elements);

/// The end of the furthest block, in elements. Throws where there are not p counts (or displacements), or one
/// is negative. Displacements not given: densely packed.
std::size_t extent_of(const call_site&, parameter counts_name, const counts_view& counts,
                      parameter displs_name, const counts_view& displs, bool displs_given);

/// The same in bytes, of counts of layouts and displacements in bytes.
std::size_t extent_of_types(const call_site&, parameter counts_name, const counts_view& counts,
                            parameter displs_name, const counts_view& displs, bool displs_given,
                            parameter types_name, std::span<const layout> types);

/// One number a rank, kept without allocation for few ranks.
class count_array {
 public:
  count_array() = default;
  count_array(const count_array&) = delete;
  count_array& operator=(const count_array&) = delete;
  ~count_array() { delete[] many_; }
  std::size_t* make(std::size_t n) {
    size_ = n;
    if (n > few) many_ = new std::size_t[n];
    return data();
  }
  std::size_t* data() noexcept { return many_ != nullptr ? many_ : own_; }
  counts_view view() noexcept { return {static_cast<const std::size_t*>(data()), size_}; }

 private:
  static constexpr std::size_t few = 16;
  std::size_t own_[few];
  std::size_t* many_ = nullptr;
  std::size_t size_ = 0;
};

/// Sent in place of a count by a rank that will throw.
inline constexpr std::size_t refused_count = static_cast<std::size_t>(-1);

/// The root's count, on all ranks. Throws peer_error where the root refused.
std::size_t count_by_bcast(const call_site&, int root, std::size_t mine);
/// Each rank's own of the root's counts; `counts` is read at the root.
std::size_t count_by_scatter(const call_site&, int root, const counts_view& counts, bool refused);
/// All ranks' counts, at the root; 0 of those that refuse. The others do not learn of it, and go on: so do
/// the root, which throws peer_error, and who refuses (frame::agree_with_root).
void counts_by_gather(const call_site&, int root, std::size_t mine, std::size_t* all);
/// All ranks' counts, everywhere.
void counts_by_allgather(const call_site&, std::size_t mine, std::size_t* all);
/// What each rank has for this one; `send_counts` null: this rank refuses.
void counts_by_alltoall(const call_site&, const counts_view* send_counts, std::size_t* recv_counts);

/// Writes counts, or the displacements of densely packed blocks, as the caller wants them. Throws where a
/// number does not fit an int.
void put_counts(caller, parameter, const counts_view& from, int* to);
void put_counts(caller, parameter, const counts_view& from, std::size_t* to);
void put_displs(caller, parameter, const counts_view& counts, int* to);
void put_displs(caller, parameter, const counts_view& counts, std::size_t* to);
[[noreturn]] void refuse_narrow(caller, parameter, std::size_t number);

}  // namespace tutti::detail
