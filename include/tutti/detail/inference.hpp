// SPDX-License-Identifier: Apache-2.0
//
// The untyped part of a call, in the library: validation of counts, and exchanges of counts that a
// caller omitted. An exchange is one more collective on the same communicator, of one std::size_t
// per rank. A rank that finds an error of its own takes part with a marker in place of its count.
// All ranks then throw, and the communicator stays usable.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tutti/call.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/form.hpp"
#include "tutti/detail/parameter_table.hpp"
#include "tutti/layout.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The call and its communicator: everything that an error message about arguments needs. It fits
/// two registers, so it costs nothing if it is not used.
struct caller {
  communicator_impl& where;
  call_name name;
};

/// A caller that executes a collective: also the rank, and the numbers of ranks and blocks.
struct collective_caller : caller {
  collective what;
  int rank, size;
  int send_blocks, recv_blocks;  // blocks: per rank, neighbor, or rank of the other group
  int first_group = 0;           // ranks of the first of two groups
  int default_root = 0;

  int blocks(parameter name) const noexcept {
    return name == parameter::recv_counts || name == parameter::recv_displs ? recv_blocks : send_blocks;
  }
  /// Whether the rank is in the root's own group in a call between groups.
  bool takes_no_part(int root) const noexcept {
    return first_group != 0 && (rank < first_group) == (root < first_group) && rank != root;
  }
  int local_rank() const noexcept { return rank < first_group ? rank : rank - first_group; }
};

/// Throws usage_error in the name of the call.
[[noreturn]] void reject_call(caller, parameter, std::string_view problem, const char* remedy);

/// Throws mismatch_error: what is received as NAME is not what was sent.
[[noreturn]] void reject_message(caller, parameter, std::string_view problem);

/// NAME receives one element, but the message has n.
[[noreturn]] void reject_not_single(caller, parameter, std::size_t n);
/// The value cannot be a default of the communicator.
[[noreturn]] void reject_default(communicator_impl&, const char* operation, const char* parameter, int value);
/// The root is not a rank.
[[noreturn]] void reject_root(caller, int root);
/// A buffer is null, with a count of n.
[[noreturn]] void reject_null(caller, parameter, std::size_t n);
/// recv_count is `given`, but blocks of n elements are sent.
[[noreturn]] void reject_recv_count(caller, long long given, std::size_t n);

/// NAME: "holds 3 elements, but 5 are needed".
[[noreturn]] void reject_size(caller, parameter, std::size_t holds, std::size_t needed);

/// values_on_rank_0 has neither one value nor one for each of n elements.
[[noreturn]] void reject_values(caller, std::size_t values, std::size_t n);

/// NAME would have to hold more than the address space.
[[noreturn]] void reject_overflow(caller, parameter, std::size_t needed);

/// Throws if a count is negative, or exceeds the buffer.
std::size_t validated_count(caller, parameter, long long count);
void validate_within(caller, parameter, std::size_t end, std::size_t holds);
/// The same for blocks with a given end. The error names displs_name if they would fit without
/// displacements.
void validate_blocks_within(caller, parameter counts_name, const counts_view& counts, parameter displs_name,
                            std::size_t end, std::size_t holds);

/// Rejects a buffer of p blocks that p does not divide. Returns the length of a block.
std::size_t block_length(const collective_caller&, parameter, std::size_t elements);

/// Returns the end of the furthest block, in elements. Throws if there are not p counts (or
/// displacements), or if one is negative. Absent displacements mean densely packed.
std::size_t extent_of(const collective_caller&, parameter counts_name, const counts_view& counts,
                      parameter displs_name, const counts_view& displs, bool displs_given);

/// The same in bytes, with counts of layouts and displacements in bytes.
std::size_t extent_of_types(const collective_caller&, parameter counts_name, const counts_view& counts,
                            parameter displs_name, const counts_view& displs, bool displs_given,
                            parameter types_name, std::span<const layout> types);

/// One number per rank, without allocation for few ranks.
class count_array {
 public:
  count_array() = default;
  count_array(const count_array&) = delete;
  count_array& operator=(const count_array&) = delete;
  // Inline for the reason that collective_frame's destructor states.
  [[gnu::always_inline]] ~count_array() { delete[] heap_; }
  std::size_t* make(std::size_t n) {
    size_ = n;
    if (n > max_inline) heap_ = new std::size_t[n];
    return data();
  }
  std::size_t* data() noexcept { return heap_ != nullptr ? heap_ : inline_; }
  counts_view view() noexcept { return {static_cast<const std::size_t*>(data()), size_}; }

 private:
  static constexpr std::size_t max_inline = 16;
  std::size_t inline_[max_inline];
  std::size_t* heap_ = nullptr;
  std::size_t size_ = 0;
};

/// The marker that a rank which will throw sends in place of a count.
inline constexpr std::size_t rejected_count = static_cast<std::size_t>(-1);

/// Called first by every call that is not a repeated one. Throws usage_error if the calling thread
/// does not run the rank. Throws peer_error if this rank received zeros in an earlier call, because
/// another rank has rejected its arguments.
void validate_entry(const collective_caller&);

/// The root's count, on all ranks. Throws peer_error if the root rejected the call.
std::size_t count_by_bcast(const collective_caller&, int root, std::size_t mine);
/// Each rank's element of the root's counts; `counts` is read at the root.
std::size_t count_by_scatter(const collective_caller&, int root, const counts_view& counts, bool rejected);
/// All ranks' counts, at the root; 0 for ranks that reject the call. The other ranks do not learn
/// of it, and continue. So do the root, which throws peer_error, and the rejecting rank
/// (collective_frame::gather_counts_at_root).
void counts_by_gather(const collective_caller&, int root, std::size_t mine, std::size_t* all);
/// All ranks' counts, on all ranks.
void counts_by_allgather(const collective_caller&, std::size_t mine, std::size_t* all);
/// The count from each rank to this one. If `send_counts` is null, this rank rejects the call.
void counts_by_alltoall(const collective_caller&, const counts_view* send_counts, std::size_t* recv_counts);

/// Writes counts, or the displacements of densely packed blocks, in the caller's type. Throws if a
/// number does not fit an int.
void put_counts(caller, parameter, const counts_view& from, int* to);
void put_counts(caller, parameter, const counts_view& from, std::size_t* to);
void put_displs(caller, parameter, const counts_view& counts, int* to);
void put_displs(caller, parameter, const counts_view& counts, std::size_t* to);
[[noreturn]] void reject_narrow(caller, parameter, std::size_t number);

}  // namespace tutti::detail
TUTTI_API_END
