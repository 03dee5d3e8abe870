// SPDX-License-Identifier: Apache-2.0
//
// The door between the templates that a user's program compiles and the library behind them. Everything that
// passes has lost its C++ types, so that a call costs its own code once and the headers stay thin.
//
// For front ends, as the C++ face is one: programs use communicator. All functions are called by the rank
// whose core it is, from one thread at a time. A call under way, from another front end than C++:
//
// ```cpp
// int x = world.is_root() ? 5 : 0;
// call c;
// c.what = collective::bcast;
// c.type = element_of<int>();
// c.count = 1;
// c.input = c.output = &x;
// auto under_way = detail::start_call(world.native(), c);
// while (!under_way->test()) {
//   // other work
// }
// assert(x == 5);
// ```
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tutti/core/call.hpp"
#include "tutti/core/owner.hpp"
#include "tutti/core/place.hpp"

namespace tutti {
class communicator;

/// How many different texts there are, and the place of one's own among them in their order.
struct numbered {
  int number;  ///< 0 .. count - 1
  int count;   ///< how many different ones
};
}  // namespace tutti

namespace tutti::detail {

struct envelope;  // mail.hpp

/// What one rank keeps of one communicator. Defined in the library.
class core;

/// One operation under way, or prepared to be started again. Its owner's destructor waits for what is under
/// way (while an exception passes by, for a tenth of a second; then the job fails). test() and wait() throw
/// what run_call() would.
class pending {
 public:
  virtual void start() = 0;  ///< usage_error where it is under way already, or its communicator was freed
  virtual bool test() = 0;   ///< makes progress; true once complete (and from then on)
  virtual void wait() = 0;   ///< returns at once where nothing is under way
  /// Ends its use, as a destructor would: waits for what is under way, for a moment where an exception passes
  /// by. False: it goes on, since it is under way and this thread may not call for its rank; its buffers have
  /// to stay.
  virtual bool dismiss() noexcept = 0;
  /// What a receive has found (mail.hpp); null: nothing, yet or ever.
  virtual const envelope* found() const noexcept { return nullptr; }
  /// Notes where the program waits for it, or asks.
  void note(const std::source_location& at) noexcept {
    if (slot != nullptr) *slot = at;
  }

  std::source_location* slot = nullptr;  ///< of its rank (place.hpp); null: it has none

 protected:
  ~pending() = default;
};

/// Must be gone before its core: hold a core_handle beside it.
using pending_call = owner<pending>;

/// Carries out the call and returns when this rank's part is done. Throws usage_error before anything is sent
/// where the call can be seen to be wrong; mismatch_error, peer_error, deadlock_error while under way.
void run_call(core&, const call&);

/// Throws usage_error where run_call() would, and in checked mode compares the call with those of the other
/// ranks: for front ends that carry out calls in another way.
void check_call(core&, const call&);

/// As run_call(), not waiting. The buffers and the operator's state must stay until wait() or test() says so;
/// arrays of counts are copied.
pending_call start_call(core&, const call&);

/// Prepares a call that can be started many times on the same buffers; it is checked and its algorithm chosen
/// here, once.
pending_call prepare_call(core&, const call&);

/// Memory for what lives as long as a call: given back, it serves the next call that wants as much. It must
/// be given back before the core goes.
void* take_memory(core&, std::size_t bytes);
void give_memory(core&, void* memory, std::size_t bytes) noexcept;

/// Collective: a communicator with the same ranks whose traffic meets none of the old one's.
core_handle duplicate(core&);

/// Collective: the ranks of one colour, in the order of their keys, and of this communicator's ranks where
/// those are the same; none for a colour below 0. And those that share memory with this rank.
core_handle split(core&, int color, int key);
core_handle split_to_shared_memory(core&);
/// As split() by the bin; usage_error on all ranks where one names a bin that is not below `bins`.
core_handle split_bin(core&, int bins, int bin);

/// Local: the ranks of a range or list, as communicator::range() and list() say; and which rank of another
/// communicator a rank here is.
core_handle range(core&, int first, int last, int stride);
core_handle list(core&, std::span<const int> ranks);
int translate(const core&, int rank, const core& to);

/// Collective, as communicator::number_distinct().
numbered number_distinct(core&, std::string_view text);

/// Collective: the same ranks, each with its neighbours: those that it receives from, and those that it sends
/// to. The neighbour collectives serve it. Throws usage_error where a neighbour is no rank; with checks on,
/// mismatch_error where one rank names a neighbour that does not name it.
core_handle with_graph(core&, std::span<const int> sources, std::span<const int> destinations);

/// Collective: two groups, ranks [0, first) and the others. Every collective goes between them. Throws
/// usage_error where one of them would be empty.
core_handle between(core&, int first);

/// Collective over both groups: `local` and that of rank `remote_leader` here, which rank 0 of each group
/// names.
core_handle between_groups(core&, core& local, int remote_leader);

/// How many blocks this rank gives and takes in a collective: the number of ranks, of neighbours, or of ranks
/// in the other group.
int blocks_given(const core&, collective) noexcept;
int blocks_taken(const core&, collective) noexcept;
/// How many ranks the first of two groups has; 0 where there is one group.
int first_group(const core&) noexcept;

/// What a communicator holds that was moved from: every call on it throws usage_error that says so.
core_handle moved_from() noexcept;

/// Ends the use of a communicator; a later call on it throws usage_error. Local.
void release(core&) noexcept;

int rank_of(const core&) noexcept;
int size_of(const core&) noexcept;

/// Throws usage_error{operation, rank of core, parameter, problem, remedy}. Out of line: keeps call sites
/// small.
[[noreturn]] void refuse(const core&, const char* operation, const char* parameter, std::string_view problem,
                         const char* remedy);

/// The last algorithm that a call of this collective used on this rank, as "allreduce/ring"; empty: none yet.
const char* last_algorithm(const core&, collective) noexcept;

}  // namespace tutti::detail
