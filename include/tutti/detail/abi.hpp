// SPDX-License-Identifier: Apache-2.0
//
// The internal ABI between the templates that a program compiles and the library. All arguments are
// type-erased, so that the code of a call exists only once and the headers stay small.
//
// For front ends, such as the C++ API; programs use communicator. Only the rank of a communicator
// calls these functions, from one thread at a time. A nonblocking call from another front end than
// C++:
//
// ```cpp
// int x = world.is_root() ? 5 : 0;
// call c;
// c.what = collective::bcast;
// c.type = element_of<int>();
// c.count = 1;
// c.input = c.output = &x;
// auto under_way = detail::start_call(detail::impl_of(world), c);
// while (!under_way->test()) {
//   // other work
// }
// assert(x == 5);
// ```
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tutti/call.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/owner.hpp"

TUTTI_API_BEGIN
namespace tutti {
class communicator;

/// The number of distinct texts, and the index of the caller's text among them in their order.
struct distinct_number {
  int index;  ///< of the caller's text, 0 .. count - 1
  int count;  ///< how many distinct texts
};
}  // namespace tutti

namespace tutti::detail {

struct envelope;  // p2p_abi.hpp

/// One operation that is under way, or prepared to be started again. The destructor of its owner
/// waits for it (during stack unwinding for a tenth of a second; then the job fails). test() and
/// wait() throw the errors of run_call().
class pending {
 public:
  /// Throws usage_error before the end of the last run, or if the communicator was freed.
  virtual void start() = 0;
  virtual bool test() = 0;  ///< makes progress; true once complete (and from then on)
  virtual void wait() = 0;  ///< returns at once if nothing is under way
  /// The same two as calls of the program: if a rejection of another rank is due, they throw
  /// peer_error and have done nothing. So does start().
  virtual bool test_at_entry() = 0;
  virtual void wait_at_entry() = 0;
  /// Ends its use, like a destructor: waits for the operation, during stack unwinding only for a
  /// moment. Returns false if the operation continues because this thread may not call for its
  /// rank; its buffers must then stay.
  virtual bool dismiss() noexcept = 0;
  /// The envelope of a complete receive (p2p_abi.hpp); null if there is none, now or ever.
  virtual const envelope* found() const noexcept { return nullptr; }
  /// Notes the source location where the program waits or tests.
  void note(const std::source_location& at) noexcept {
    if (slot != nullptr) *slot = at;
  }

  std::source_location* slot = nullptr;  ///< of its rank (call_site.hpp); null: it has none

 protected:
  ~pending() = default;
};

/// It must be destroyed before its communicator: hold a communicator_handle beside it.
using pending_call = owner<pending>;

/// Executes the call and returns when this rank's part is done. Throws usage_error, before anything
/// is sent, if this rank can see that the call is wrong. Throws mismatch_error, peer_error,
/// deadlock_error while it runs.
void run_call(communicator_impl&, const call&);

/// Throws the usage_error that run_call() would throw, and in checked mode compares the call with
/// those of the other ranks. It is for front ends that execute calls in another way. When such a
/// call is over, all ranks call count_call().
void validate_call(communicator_impl&, const call&);
/// At the beginning of a call of the program. Throws usage_error if the calling thread does not run
/// this rank, or the run has ended. Throws peer_error if a rejection of another rank is due.
void validate_entry(const communicator_impl&, const char* operation);
/// Counts a call that was executed in another way. Rejections of this call are due from here on.
void count_call(communicator_impl&);

/// Does the same as run_call() without waiting. The buffers and the state of the operator must live
/// until wait() or test() reports completion; arrays of counts are copied.
pending_call start_call(communicator_impl&, const call&);

/// Prepares a call that can be started many times on the same buffers. The arguments are validated
/// and the algorithm is selected here, once.
pending_call prepare_call(communicator_impl&, const call&);

/// Memory for the duration of a call. Memory that is given back serves the next request of the same
/// size. The caller must give it back before the communicator is destroyed.
void* acquire_memory(communicator_impl&, std::size_t bytes);
void release_memory(communicator_impl&, void* memory, std::size_t bytes) noexcept;

/// Collective: a communicator with the same ranks and separate traffic.
communicator_handle duplicate(communicator_impl&);

/// Collective: the ranks of one color, in the order of their keys, and by rank if keys are equal;
/// none for a color below 0. split_to_shared_memory() returns those that share memory with this
/// rank.
communicator_handle split(communicator_impl&, int color, int key);
communicator_handle split_to_shared_memory(communicator_impl&);
/// The same as split() by the bin. Throws usage_error on all ranks if one names a bin that is not
/// below `bins`.
communicator_handle split_bin(communicator_impl&, int bins, int bin);

/// Local: the ranks of a range or list, as for communicator::range() and list(); and the
/// translation of a rank to another communicator.
communicator_handle range(communicator_impl&, int first, int last, int stride);
communicator_handle list(communicator_impl&, std::span<const int> ranks);
int translate(const communicator_impl&, int rank, const communicator_impl& to);

/// Collective, as communicator::number_distinct().
distinct_number number_distinct(communicator_impl&, std::string_view text);

/// Collective: the same ranks, each with the neighbors that it receives from and sends to. The
/// neighbor collectives use it. Throws usage_error if a neighbor is not a rank. In checked mode
/// throws mismatch_error if the neighbor does not name the rank in turn.
communicator_handle with_graph(communicator_impl&, std::span<const int> sources,
                               std::span<const int> destinations);

/// Collective: two groups, ranks [0, first) and the others. Every collective goes between them.
/// Throws usage_error if a group would be empty.
communicator_handle between(communicator_impl&, int first);

/// Collective over both groups: `local` and the group of rank `remote_leader` of this communicator,
/// which rank 0 of each group names.
communicator_handle between_groups(communicator_impl&, communicator_impl& local, int remote_leader);

/// The number of blocks that this rank sends and receives in a collective. It is the number of
/// ranks, of neighbors, or of ranks in the other group.
int send_block_count(const communicator_impl&, collective) noexcept;
int recv_block_count(const communicator_impl&, collective) noexcept;
/// The number of ranks in the first of two groups; 0 if there is only one group.
int first_group(const communicator_impl&) noexcept;

/// Moves the handle of a communicator of this rank. Every later call on `from` throws usage_error,
/// which names this reason, the rank and the source line of the call. Without memory for that,
/// `from` stays a copy.
communicator_handle move_from(communicator_handle& from, int rank) noexcept;

/// Frees a communicator; a later call on it throws usage_error. Local.
void release(communicator_impl&) noexcept;

int rank_of(const communicator_impl&) noexcept;
int size_of(const communicator_impl&) noexcept;

/// Throws usage_error{operation, rank, parameter, problem, remedy}. It is out of line to keep call
/// sites small.
[[noreturn]] void reject(const communicator_impl&, const char* operation, const char* parameter,
                         std::string_view problem, const char* remedy);

/// The algorithm of the last call of this collective on this rank, such as "allreduce/ring"; empty:
/// none yet.
const char* last_algorithm(const communicator_impl&, collective) noexcept;

}  // namespace tutti::detail
TUTTI_API_END
