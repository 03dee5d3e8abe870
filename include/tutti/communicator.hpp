// SPDX-License-Identifier: Apache-2.0
//
// The communicator: a group of ranks, every collective on it, and the messages between two of them. What
// holds for all of them is said at the class; the single collectives stand in collectives.hpp and
// reductions.hpp, those that go within one group only in within_group.hpp, messages in messages.hpp.
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

#include "tutti/collectives.hpp"
#include "tutti/core/port.hpp"
#include "tutti/messages.hpp"
#include "tutti/parameters.hpp"
#include "tutti/within_group.hpp"

namespace tutti {

class graph_communicator;
class intercommunicator;

/// A colour of split(), and of structures: of no group. Any other below 0 is as good.
inline constexpr int undefined = -0x7fffff03;

/// A group of ranks that communicate. Copies are cheap, local, and mean the same group.
///
/// **Threads.** A rank's communicators, and all that is made of them, are used by the thread that
/// carries the rank: the thread, or the fiber, on which the program was called. Every other thread
/// gets a usage_error, before anything is sent: another rank's, one that the program has
/// started, and kernels of tasks, wherever they run. Over MPI the rank is carried by the thread on
/// which run() or adopt() was called; where MPI was started with MPI_THREAD_SERIALIZED or more, any
/// thread may call, one at a time. Any thread may copy or destroy a communicator.
///
/// **Lifetime.** A communicator, and its requests, can be used until the program that run() calls
/// has returned; collectives under way end then. Later calls, and calls on what was moved from,
/// throw usage_error.
///
/// **Calls.** All ranks of a communicator call the same collectives in the same order. Each has three forms:
/// `name(...)` returns when this rank's part is done; `iname(...)` begins it and returns a request,
/// `name_init(...)` prepares it and returns a plan that can be started many times (request.hpp). Exchanges of
/// counts are over before the latter two return.
///
/// **Parameters** are named and come in any order (parameters.hpp). `algorithm("name")` and
/// `composition("name")` are taken by all. The element type T is that of send_buf, else of send_recv_buf,
/// else of recv_buf, or given, as in `bcast<T>(...)`: any trivially copyable type. A single value passed as a
/// buffer is one element. With `send_recv_buf(v)` a call is in place: v holds what is sent and then what is
/// received; an lvalue is changed, a moved container comes back with the same storage.
///
/// **Layouts.** A buffer may hold items of a layout (core/layout.hpp) instead of elements: `send_type(l)`,
/// `recv_type(l)`, `send_recv_type(l)`, taken where the buffer is, but for alltoallw and _single forms; in a
/// reduction send_recv_type also stands for both buffers. Then send_... counts and displacements count items
/// of send_type, recv_... those of recv_type, and what lies between the pieces is neither read nor written;
/// a layout may name bytes of any element type. The length of what is sent has to be given, and the receive
/// buffer is a no_resize container. Ranks with and without layouts meet in one call, as long as an item is a
/// whole number of T, where T is the element type of a buffer without layout, else of the first one; in a
/// reduction it must be. Otherwise the call is one of bytes: then all ranks give layouts of that kind, for
/// both buffers. usage_error where an item lies beyond its buffer, or what comes is no whole number of items.
/// Items with gaps are packed before the call, and unpacked when it is complete: a copy each way, and memory
/// for it. `send_type_out()` and its like give the layout that was used, that of one T.
///
/// **Results** (result.hpp): the receive buffer, unless the caller passed an lvalue for it, and every other
/// owning out parameter. By default the receive buffer is a new std::vector<T> (dynamic_array<bool> for
/// bool).
///
/// **Errors.** A call that is written wrongly does not compile, and one sentence says why.
/// - usage_error, before anything is sent: arguments that this rank can see to be wrong, as a container
///   too small for what it is to receive, counts that are negative, beyond the buffer or not one for each
///   rank, a root that does not exist, a communicator that was freed. A call that all ranks refuse leaves
///   the communicator usable.
/// - peer_error: another rank failed, or refused its arguments before an exchange of counts.
/// - usage_error at the end: where the others go on, since they cannot know that this rank refuses, it takes
///   part with memory of its own and throws when the call is over (of i... and ..._init forms: in wait()).
///   The others' calls end, and they receive zeros for what it would have sent, unless that was right. So in
///   every rooted collective, after an exchange of counts, and in blocking calls among all whose length all
///   ranks know (up to 256 MiB where an argument names it). What else one rank alone refuses leaves the
///   others waiting until it ends: a root that is no rank, wrong counts that are given to alltoallv,
///   alltoallw or allgatherv, a buffer that the ranks do not divide, an i... form among all. TUTTI_CHECK=1
///   tells the others.
/// - What a container of this rank throws when it is resized (std::bad_alloc): the same way at the end, in
///   every collective and form, and the others receive what this rank sends; zeros if that stood in place.
/// - peer_error in checked mode: another rank refused its arguments; the text says which, and why.
/// - mismatch_error: the ranks called something different, or blocks of different lengths;
///   truncation_error: a message longer than its place. TUTTI_CHECK=1 finds both before the call runs.
/// - deadlock_error: all ranks wait for one another. engine_error: the engine failed, as MPI may.
///
/// **Costs** are those of the algorithm that is selected, over n elements that are not copied before, plus
/// the exchange of counts where one is named. A warm blocking call of equal blocks into a container that is
/// passed allocates nothing; a container that the library makes costs its allocation, an i... or ..._init
/// form that of its request.
///
/// ```cpp
/// std::vector<double> mine = {1.0, 2.0}, sum(2);
/// world.allreduce(send_buf(mine), op(std::plus<>{}), recv_buf(sum));  // into sum
/// std::vector<double> all = world.allgather(send_buf(mine));          // into a new vector
/// auto later = world.iallgather(send_buf(std::move(mine)));           // keeps mine
/// assert(later.wait() == all);
///
/// double matrix[12] = {};  // 4 rows of 3
/// const layout column = layout::vector(4, 1, 3, type_of<double>());
/// std::vector<double> rows = world.allgather(send_buf(matrix), send_type(column), send_count(1));
/// assert(rows.size() == 4 * all.size() / 2);
/// ```
class communicator : public collectives<communicator>,
                     public within_group<communicator>,
                     public messages<communicator> {
 public:
  /// For the library: a program is given its first one by run() or adopt().
  explicit communicator(detail::core_handle core)
      : core_(std::move(core)), rank_(detail::rank_of(*core_)), size_(detail::size_of(*core_)) {}

  communicator(const communicator&) = default;
  communicator& operator=(const communicator&) = default;
  /// What was moved from keeps rank() and size(); its calls throw usage_error.
  communicator(communicator&& other) noexcept
      : core_(std::exchange(other.core_, detail::moved_from())),
        rank_(other.rank_),
        size_(other.size_),
        default_root_(other.default_root_),
        default_tag_(other.default_tag_) {}
  communicator& operator=(communicator&& other) noexcept {
    if (this == &other) return *this;
    core_ = std::exchange(other.core_, detail::moved_from());
    rank_ = other.rank_;
    size_ = other.size_;
    take_defaults(other);
    return *this;
  }
  ~communicator() = default;

  int rank() const noexcept { return rank_; }  ///< of the caller, 0 .. size() - 1
  int size() const noexcept { return size_; }  ///< number of ranks
  /// Whether the caller is `root`; left out: default_root(), as in all rooted collectives.
  bool is_root(int root) const noexcept { return rank_ == root; }
  bool is_root() const noexcept { return rank_ == default_root_; }

  /// The root of rooted collectives that are not told root(...): 0, or what was set. Local; all ranks set the
  /// same, or their calls do not fit together. It belongs to this object: copies and duplicates made later
  /// have it too. Throws usage_error where there is no such rank.
  ///
  /// ```cpp
  /// communicator mine = world;
  /// mine.default_root(world.size() - 1);
  /// std::vector<int> all = mine.gather(send_buf(world.rank()));
  /// assert(all.empty() != mine.is_root() && mine.default_root() == world.size() - 1);
  /// ```
  void default_root(int root, std::source_location at = std::source_location::current()) {
    if (root < 0 || root >= size_) detail::refuse_default(noted(at), "default_root", "root", root);
    default_root_ = root;
  }
  int default_root() const noexcept { return default_root_; }
  /// The tag of messages that are sent without tag(...): 0, or what was set. Receives without one still take
  /// any. Local, and of this object, as default_root(). The next send throws usage_error where the engine has
  /// no such tag.
  void default_tag(int tag, std::source_location at = std::source_location::current()) {
    if (tag < 0) detail::refuse_default(noted(at), "default_tag", "tag", tag);
    default_tag_ = tag;
  }
  int default_tag() const noexcept { return default_tag_; }

  /// Collective: the same ranks, with traffic of its own. Costs an allreduce of 8 bytes; over MPI also an
  /// MPI_Comm_idup.
  communicator duplicate(std::source_location at = std::source_location::current()) const {
    communicator other(detail::duplicate(noted(at)));
    other.take_defaults(*this);
    return other;
  }

  /// Collective: the ranks that pass the same `color`, in the order of `key`, of equal keys in that of ranks
  /// here; empty for who passes a colour below 0, and so is in no part. Costs an allgather of 16 bytes a
  /// rank; O(size()) memory while it runs, O(its size) afterwards, O(1) where it is a range of the job's
  /// ranks. What a part needs for calls is made with its first one. Over MPI its collectives are schedules: a
  /// duplicate() of it has a communicator of MPI's, and its collectives. usage_error where this one was
  /// freed.
  ///
  /// ```cpp
  /// std::optional<communicator> half = world.split(world.rank() % 2, -world.rank());
  /// assert(half->size() == (world.size() + 1 - world.rank() % 2) / 2);  // and the last comes first
  /// ```
  std::optional<communicator> split(int color, int key = 0,
                                    std::source_location at = std::source_location::current()) const {
    detail::core_handle made = detail::split(noted(at), color, key);
    if (!made) return std::nullopt;
    return std::optional<communicator>(std::in_place, std::move(made));
  }
  /// Collective: the ranks that share memory with this one, in the order of ranks: those of one machine, or
  /// of one node as TUTTI_NODES lays them out. Costs as split().
  ///
  /// ```cpp
  /// communicator node = world.split_to_shared_memory();
  /// assert(node.allgather(send_buf(world.rank()))[node.rank()] == world.rank());
  /// ```
  communicator split_to_shared_memory(std::source_location at = std::source_location::current()) const {
    return communicator(detail::split_to_shared_memory(noted(at)));
  }

  /// Collective: the ranks of the same bin, in their order; empty for a bin below 0. Costs as split().
  /// usage_error on all ranks where one names a bin that is not below `bins`; mismatch_error where `bins`
  /// differ.
  std::optional<communicator> split_bin(int bins, int bin,
                                        std::source_location at = std::source_location::current()) const {
    detail::core_handle made = detail::split_bin(noted(at), bins, bin);
    if (!made) return std::nullopt;
    return std::optional<communicator>(std::in_place, std::move(made));
  }

  /// Local, no message: ranks first, first + stride, ... last, which is included. Called by these ranks
  /// alone, with the same arguments, by each of them as often. Its traffic meets no other communicator's,
  /// also where they overlap. O(1) where this one is a range of the job's ranks, as the first one is. Throws
  /// usage_error where stride does not lead from first to last, or leaves the caller out.
  ///
  /// ```cpp
  /// const int p = world.size(), me = world.rank();
  /// communicator half = me < p / 2 ? world.range(0, p / 2 - 1) : world.range(p / 2, p - 1);
  /// communicator back = world.range(p - 1, 0, -1);
  /// assert(half.size() == (me < p / 2 ? p / 2 : p - p / 2) && back.rank() == p - 1 - me);
  /// ```
  communicator range(int first, int last, int stride = 1,
                     std::source_location at = std::source_location::current()) const {
    return communicator(detail::range(noted(at), first, last, stride));
  }
  /// Local, no message: these ranks in this order, any contiguous container of int. Called by them alone,
  /// with the same list, by each of them as often. O(size()) time. Throws usage_error where the list has what
  /// is no rank, one twice, or not the caller.
  template <class Ranks>
  communicator list(const Ranks& ranks, std::source_location at = std::source_location::current()) const {
    return communicator(detail::list(noted(at), {ranks.data(), ranks.size()}));
  }
  communicator list(std::initializer_list<int> ranks,
                    std::source_location at = std::source_location::current()) const {
    return communicator(detail::list(noted(at), {ranks.begin(), ranks.size()}));
  }
  /// Local: which rank of `other` is `rank` of this one; rank::null where it is none, and of rank::null. O(1)
  /// where both are ranges of the job's ranks, else O(other.size()). Throws usage_error where there is no
  /// such rank, where either was freed, and where it cannot be told since one of them is over a structure
  /// that does not know it.
  int translate(int rank, const communicator& other,
                std::source_location at = std::source_location::current()) const {
    return detail::translate(noted(at), rank, *other.core_);
  }
  /// Collective over the members of a structure (group.hpp) whose parent this is: a communicator of them that
  /// knows whom the structure knows, and no others. Its collectives run algorithms whose ranks send to these
  /// alone, `along` from one to the next where there is nothing better; messages to others, range(), list(),
  /// between(), graph() and inter() are refused, and split(0) of it knows all. ceil(log2(size)) rounds of 16
  /// bytes; memory as the structure has. usage_error where the parent is another communicator, was freed, or
  /// the caller is in no group; mismatch_error where the structures of the ranks are of several kinds.
  template <class Structure>
  communicator over(const Structure& members,
                    std::source_location at = std::source_location::current()) const;

  /// Collective: numbers the different texts that ranks pass, in alphabetical order: `number` of the own one,
  /// 0 .. count - 1, and their `count`. A colour for split(), as of host names. Costs an allgatherv of the
  /// texts.
  ///
  /// ```cpp
  /// auto [number, count] = world.number_distinct(world.rank() % 2 == 0 ? "even" : "odd");
  /// assert(number == world.rank() % 2 && count == std::min(world.size(), 2));
  /// ```
  numbered number_distinct(std::string_view text,
                           std::source_location at = std::source_location::current()) const {
    return detail::number_distinct(noted(at), text);
  }

  /// Collective: these ranks, each with neighbours: `sources` that it receives from, `destinations` that it
  /// sends to, as contiguous containers of int. A rank may be named several times, also the own one. The
  /// neighbour collectives are members of what is returned (graph.hpp). Costs what duplicate() does. Throws
  /// usage_error where a neighbour is no rank of this communicator; with TUTTI_CHECK=1 mismatch_error where
  /// an edge is known to one of its ends only.
  template <class Sources, class Destinations>
  graph_communicator graph(const Sources& sources, const Destinations& destinations,
                           std::source_location at = std::source_location::current()) const;
  graph_communicator graph(std::initializer_list<int> sources, std::initializer_list<int> destinations,
                           std::source_location at = std::source_location::current()) const;

  /// Collective: two groups, ranks [0, first) and the others, first in 1 .. size() - 1. The collectives of
  /// what is returned go between them (intercommunicator.hpp). Costs what two duplicate() do. Throws
  /// usage_error where a group would be empty.
  intercommunicator between(int first, std::source_location at = std::source_location::current()) const;

  /// Collective: exclusive scans in both directions at once, `double_exscan(send_buf(v), op(f))`: a struct of
  /// `from_left`, what all ranks before this one combine to, and `from_right`, all behind it; in
  /// tutti/double_exscan.hpp. As many elements on all ranks, else mismatch_error; any operator, also one that
  /// does not commute. ceil(log2 p) rounds of two messages; over a chain or ring p - 1. usage_error where the
  /// communicator was freed.
  template <class... Args>
  auto double_exscan(Args&&... args) const;

  /// Collective over two groups of ranks that have none in common: this rank's, `local`, and the other one,
  /// whose rank 0 is rank `remote_leader` here. Ranks of this communicator that are in neither do not call
  /// it. Only rank 0 of each group need name the other's. The group whose leader has the lower rank is the
  /// first one. Costs three bcasts and an allgather within each group, and two exchanges of the leaders.
  /// Throws usage_error where there is no such rank (on the leader; the others wait), and on all where the
  /// groups overlap.
  ///
  /// ```cpp
  /// if (world.size() < 3) return;
  /// const bool low = world.rank() < 1;  // rank 0, and ranks 1 and 2
  /// if (world.rank() > 2) return;
  /// communicator mine = low ? world.range(0, 0) : world.range(1, 2);
  /// intercommunicator sides = world.inter(mine, low ? 1 : 0);
  /// assert(sides.remote_size() == (low ? 2 : 1));
  /// ```
  intercommunicator inter(const communicator& local, int remote_leader,
                          std::source_location at = std::source_location::current()) const;

  /// Ends the use of this communicator, and of its copies: later calls throw usage_error. Local.
  void free() noexcept { detail::release(*core_); }

  /// What the last call of `what` ran on this rank, as "allreduce/ring" or "allreduce/native"; empty: none
  /// yet. For reports and tests; the text lives as long as the library.
  const char* last_algorithm(collective what) const noexcept { return detail::last_algorithm(*core_, what); }

  // For front ends: the library's side of this communicator, and what a call of form f says of itself.
  detail::core& native() const noexcept { return *core_; }
  const detail::core_handle& shared() const noexcept { return core_; }
  detail::call_site site(detail::form f) const noexcept {
    return {{*core_, f}, f.what, rank_, size_, size_, size_, 0, default_root_};
  }

 protected:
  // For the library.
  void take_defaults(const communicator& other) noexcept {
    default_root_ = other.default_root_;
    default_tag_ = other.default_tag_;
  }

 private:
  detail::core& noted(const std::source_location& at) const noexcept {
    detail::note_place(*core_, at);
    return *core_;
  }

  detail::core_handle core_;
  int rank_, size_;
  int default_root_ = 0, default_tag_ = 0;
};

}  // namespace tutti
