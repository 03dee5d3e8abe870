// SPDX-License-Identifier: Apache-2.0
//
// The communicator: a group of ranks, all collectives on it, and messages between two of its ranks.
// The comment at the class states what they share. collectives.hpp and reductions.hpp describe the
// single collectives, within_group.hpp those that work within one group only, and messages.hpp the
// messages.
#pragma once

#include <initializer_list>
#include <optional>
#include <source_location>
#include <string_view>
#include <utility>

#include "tutti/collectives.hpp"
#include "tutti/detail/abi.hpp"
#include "tutti/detail/access.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/messages.hpp"
#include "tutti/parameters.hpp"
#include "tutti/within_group.hpp"

TUTTI_API_BEGIN
namespace tutti {

class graph_communicator;
class intercommunicator;

namespace colors {
/// A color of split(), and of structures, that belongs to no group. Any other negative value means
/// the same.
inline constexpr int undefined = -0x7fffff03;
}  // namespace colors

/// A group of ranks that communicate. A copy is cheap and local, and refers to the same group.
///
/// **Threads.** Only the thread or fiber that runs a rank may use its communicators and the
/// objects made from them. It is the one on which the program was called. Every other thread gets a
/// usage_error before anything is sent. This holds for the threads of other ranks, threads that the
/// program has started, and kernels of tasks. Over MPI, the thread that called run() or adopt()
/// runs the rank. If MPI was initialized with MPI_THREAD_SERIALIZED or more, any thread may
/// call, one at a time. Any thread may copy or destroy a communicator.
///
/// **Lifetime.** A communicator and its requests are valid until the program that run() calls has
/// returned. That return also ends collectives that are under way. Later calls, and calls on a
/// moved-from object, throw usage_error.
///
/// **Calls.** All ranks of a communicator call the same collectives in the same order. Each
/// collective has three forms:
/// - `name(...)` returns when this rank's part is done.
/// - `iname(...)` begins the call and returns a request.
/// - `name_init(...)` prepares the call and returns a plan that can be started many times
///   (request.hpp).
///
/// Exchanges of counts are over before the latter two return.
///
/// **Parameters** are named and may come in any order (parameters.hpp). Every call takes
/// `algorithm("name")` and `composition("name")`. The element type T is any trivially copyable
/// type. It is that of send_buf, else of send_recv_buf, else of recv_buf, or it is given, as in
/// `bcast<T>(...)`. A single value passed as a buffer is one element. `send_recv_buf(v)` makes a
/// call in place: v holds what is sent, and then what is received. The call changes an lvalue; a
/// moved container is returned with the same storage.
///
/// **Layouts.** A buffer may hold items of a layout (layout.hpp) instead of elements.
/// `send_type(l)`, `recv_type(l)` and `send_recv_type(l)` state the layout.
/// - Every call that takes the buffer takes them too, except alltoallw and the _single forms. In a
///   reduction send_recv_type also covers both buffers.
/// - send_... counts and displacements then count items of send_type, and recv_... those of
///   recv_type. The call neither reads nor writes the gaps. A layout may describe bytes of any
///   element type.
/// - The send length must be given, and the receive buffer is a no_resize container.
/// - Ranks with and without layouts can take part in one call if an item is a whole number of T. T
///   is the element type of a buffer without layout, else of the first buffer. In a reduction this
///   is required. Otherwise the call moves bytes, and all ranks give such layouts for both buffers.
/// - Throws usage_error if an item exceeds its buffer, or if what is received is not a whole number
///   of items.
/// - The library packs items with gaps before the call and unpacks them when it is complete. This
///   costs one copy each way, and memory for it.
/// - `send_type_out()` and the like return the layout that was used; without one it is that of one
///   T.
///
/// **Results** (result.hpp). A call returns the receive buffer, unless the caller passed an lvalue
/// for it, and every other owning out parameter. By default the receive buffer is a new
/// std::vector<T> (dynamic_array<bool> for bool).
///
/// **Errors.** A call with wrong parameters does not compile, and one sentence states the reason.
/// - usage_error, before anything is sent: this rank can see that its arguments are wrong. Examples
///   are a container too small for what it receives, a root that does not exist, and a communicator
///   that was freed. Others are counts that are negative, exceed the buffer, or are not one per
///   rank. If all ranks reject a call, the communicator stays usable.
/// - peer_error: another rank failed, or rejected its arguments before an exchange of counts. Or
///   this rank received zeros from a rank that rejected its arguments in an earlier call; the call
///   then sends nothing.
/// - usage_error at the end: if the other ranks cannot know that this rank rejects its arguments,
///   it still takes part, with substitute buffers. It throws when the call is over; the i... and
///   ..._init forms throw in wait(). The calls of the other ranks complete. They receive zeros in
///   place of this rank's data, unless its send buffer was valid; then their next call throws
///   peer_error. This holds in every rooted
///   collective and after an exchange of counts. It also holds in blocking unrooted calls whose
///   length all ranks know (up to 256 MiB if an argument names it).
/// - If one rank alone rejects other arguments, the other ranks block until that rank exits. Such
///   arguments are a root that is not a rank, and wrong counts given to alltoallv, alltoallw or
///   allgatherv. Others are a buffer that the number of ranks does not divide, and any in an i...
///   form of an unrooted collective. TUTTI_CHECK=1 reports the rejection to the other ranks.
/// - Exceptions of a container of this rank that is resized (std::bad_alloc) also come at the end,
///   in every collective and form. The other ranks receive what this rank sends, or zeros if the
///   call was in place.
/// - peer_error in checked mode: another rank rejected its arguments; the text says which rank, and
///   why.
/// - mismatch_error: the ranks called different collectives, or with blocks of different lengths.
///   truncation_error: a message is longer than its buffer. TUTTI_CHECK=1 finds both before the
///   call runs.
/// - deadlock_error: all ranks wait for one another. engine_error: the engine failed, for example
///   MPI.
///
/// **Costs** are those of the selected algorithm, plus the exchange of counts where one is named.
/// The n elements are not copied before. A repeated blocking call of equal blocks into a passed
/// container allocates nothing. A container that the library makes costs its allocation; an i... or
/// ..._init form costs that of its request.
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
  /// For the library: run() or adopt() supplies the first communicator of a program.
  explicit communicator(detail::communicator_handle communicator_impl)
      : impl_(std::move(communicator_impl)), rank_(detail::rank_of(*impl_)), size_(detail::size_of(*impl_)) {}

  communicator(const communicator&) = default;
  communicator& operator=(const communicator&) = default;
  /// The moved-from object keeps rank() and size(); its calls throw usage_error. Without memory for
  /// that, it stays a copy.
  communicator(communicator&& other) noexcept
      : impl_(detail::move_from(other.impl_, other.rank_)),
        rank_(other.rank_),
        size_(other.size_),
        default_root_(other.default_root_),
        default_tag_(other.default_tag_) {}
  communicator& operator=(communicator&& other) noexcept {
    if (this == &other) return *this;
    impl_ = detail::move_from(other.impl_, other.rank_);
    rank_ = other.rank_;
    size_ = other.size_;
    take_defaults(other);
    return *this;
  }
  ~communicator() = default;

  int rank() const noexcept { return rank_; }  ///< rank of the caller, 0 .. size() - 1
  int size() const noexcept { return size_; }  ///< number of ranks
  /// Whether the caller is `root`. Without an argument `root` is default_root(), as in all rooted
  /// collectives.
  bool is_root(int root) const noexcept { return rank_ == root; }
  bool is_root() const noexcept { return rank_ == default_root_; }

  /// The root of rooted collectives without root(...): 0, or what was set. Local. All ranks must
  /// set the same root, or their calls do not match. The value belongs to this object; copies and
  /// duplicates made later inherit it. Throws usage_error if the rank does not exist.
  ///
  /// ```cpp
  /// communicator mine = world;
  /// mine.default_root(world.size() - 1);
  /// std::vector<int> all = mine.gather(send_buf(world.rank()));
  /// assert(all.empty() != mine.is_root() && mine.default_root() == world.size() - 1);
  /// ```
  void default_root(int root, std::source_location at = std::source_location::current()) {
    if (root < 0 || root >= size_) detail::reject_default(noted(at), "default_root", "root", root);
    default_root_ = root;
  }
  int default_root() const noexcept { return default_root_; }
  /// The tag of messages that are sent without tag(...): 0, or what was set. Receives without a tag
  /// still match any tag. The value is local to this object, like default_root(). The next send
  /// throws usage_error if the engine does not support the tag.
  void default_tag(int tag, std::source_location at = std::source_location::current()) {
    if (tag < 0) detail::reject_default(noted(at), "default_tag", "tag", tag);
    default_tag_ = tag;
  }
  int default_tag() const noexcept { return default_tag_; }

  /// Collective: returns a communicator of the same ranks with separate traffic. Costs an allreduce
  /// of 8 bytes; over MPI also an MPI_Comm_idup.
  communicator duplicate(std::source_location at = std::source_location::current()) const {
    communicator other(detail::duplicate(noted(at)));
    other.take_defaults(*this);
    return other;
  }

  /// Collective: returns a communicator of the ranks that pass the same `color`. They are ordered
  /// by `key`, and ranks with equal keys by their rank in this communicator. Returns nothing to a
  /// rank that passes a negative color.
  ///
  /// Costs an allgather of 16 bytes per rank, and O(size()) memory while it runs. The result takes
  /// memory linear in its size, or O(1) if it is a range of the job's ranks. Its first call
  /// allocates what calls need. Over MPI its collectives run as schedules; a duplicate() of it has
  /// an MPI communicator and MPI's collectives. Throws usage_error if this communicator was freed.
  ///
  /// ```cpp
  /// std::optional<communicator> half = world.split(world.rank() % 2, -world.rank());
  /// assert(half->size() == (world.size() + 1 - world.rank() % 2) / 2);  // in reverse order
  /// ```
  std::optional<communicator> split(int color, int key = 0,
                                    std::source_location at = std::source_location::current()) const {
    detail::communicator_handle made = detail::split(noted(at), color, key);
    if (!made) return std::nullopt;
    return std::optional<communicator>(std::in_place, std::move(made));
  }
  /// Collective: returns a communicator of the ranks that share memory with this one, in the order
  /// of ranks. They are the ranks of one machine, or of one node as TUTTI_NODES assigns them. Costs
  /// the same as split().
  ///
  /// ```cpp
  /// communicator node = world.split_to_shared_memory();
  /// assert(node.allgather(send_buf(world.rank()))[node.rank()] == world.rank());
  /// ```
  communicator split_to_shared_memory(std::source_location at = std::source_location::current()) const {
    return communicator(detail::split_to_shared_memory(noted(at)));
  }

  /// Collective: returns a communicator of the ranks with the same bin, in the order of ranks.
  /// Returns nothing for a bin below 0. Costs the same as split(). Throws usage_error on all ranks
  /// if one names a bin that is not below `bins`, and mismatch_error if `bins` differs.
  std::optional<communicator> split_bin(int bins, int bin,
                                        std::source_location at = std::source_location::current()) const {
    detail::communicator_handle made = detail::split_bin(noted(at), bins, bin);
    if (!made) return std::nullopt;
    return std::optional<communicator>(std::in_place, std::move(made));
  }

  /// Returns a communicator of the ranks first, first + stride, ..., last (inclusive). Local, no
  /// message. Only these ranks call it, with the same arguments and equally often. Its traffic is
  /// separate from that of other communicators, even if they overlap. O(1) if this communicator is
  /// a range of the job's ranks, as the first one is. Throws usage_error if stride does not lead
  /// from first to last, or if the caller is not included.
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
  /// Returns a communicator of these ranks in this order. `ranks` is any contiguous container of
  /// int. Local, no message. Only these ranks call it, with the same list and equally often.
  /// O(size()) time. Throws usage_error if the list has an invalid rank, has one twice, or lacks
  /// the caller.
  template <class Ranks>
  communicator list(const Ranks& ranks, std::source_location at = std::source_location::current()) const {
    return communicator(detail::list(noted(at), {ranks.data(), ranks.size()}));
  }
  communicator list(std::initializer_list<int> ranks,
                    std::source_location at = std::source_location::current()) const {
    return communicator(detail::list(noted(at), {ranks.begin(), ranks.size()}));
  }
  /// Returns the rank in `other` of `rank` of this communicator. Returns rank::null if `other` does
  /// not contain it, and for rank::null. Local. O(1) if both are ranges of the job's ranks, else
  /// O(other.size()). Throws usage_error if the rank does not exist or if either communicator was
  /// freed. Also throws it if one of them is over a structure that does not know the rank.
  int translate(int rank, const communicator& other,
                std::source_location at = std::source_location::current()) const {
    return detail::translate(noted(at), rank, *other.impl_);
  }
  /// Collective over the members of a structure (group.hpp) whose parent is this communicator.
  /// Returns a communicator of the members that knows only the ranks that the structure knows. Its
  /// collectives run algorithms whose ranks send only to these, at worst `along`, from one member
  /// to the next. Throws usage_error for messages to other ranks, range(), list(), between(),
  /// graph() and inter(). split(0) of it knows all members.
  ///
  /// Costs ceil(log2(size)) rounds of 16 bytes, and as much memory as the structure. Throws
  /// usage_error if the parent is another communicator, was freed, or the caller is in no group.
  /// Throws mismatch_error if the ranks pass structures of different kinds.
  template <class Structure>
  communicator over(const Structure& members,
                    std::source_location at = std::source_location::current()) const;

  /// Collective: numbers the distinct texts that the ranks pass, in alphabetical order. Returns the
  /// `index` of the caller's text, 0 .. count - 1, and their `count`. The index can be a color
  /// for split(), for example of host names. Costs an allgatherv of the texts.
  ///
  /// ```cpp
  /// auto [index, count] = world.number_distinct(world.rank() % 2 == 0 ? "even" : "odd");
  /// assert(index == world.rank() % 2 && count == std::min(world.size(), 2));
  /// ```
  distinct_number number_distinct(std::string_view text,
                                  std::source_location at = std::source_location::current()) const {
    return detail::number_distinct(noted(at), text);
  }

  /// Collective: returns a communicator of these ranks with neighbors. A rank receives from
  /// `sources` and sends to `destinations`, which are contiguous containers of int. A rank may be
  /// named several times, and may be the caller. The neighbor collectives are members of the
  /// result (graph.hpp). Costs the same as duplicate(). Throws usage_error if a neighbor is not a
  /// rank of this communicator. With TUTTI_CHECK=1 throws mismatch_error if only one end of an edge
  /// names it.
  template <class Sources, class Destinations>
  graph_communicator graph(const Sources& sources, const Destinations& destinations,
                           std::source_location at = std::source_location::current()) const;
  graph_communicator graph(std::initializer_list<int> sources, std::initializer_list<int> destinations,
                           std::source_location at = std::source_location::current()) const;

  /// Collective: forms two groups, ranks [0, first) and the others, with first in 1 .. size() - 1.
  /// The collectives of the result go between them (intercommunicator.hpp). Costs the same as two
  /// calls of duplicate(). Throws usage_error if a group would be empty.
  intercommunicator between(int first, std::source_location at = std::source_location::current()) const;

  /// Collective: exclusive scans in both directions at once, `double_exscan(send_buf(v), op(f))`.
  /// Returns a struct: `from_left` combines all ranks before this one, `from_right` all ranks
  /// behind it. tutti/double_exscan.hpp defines it. All ranks pass the same number of elements,
  /// else it throws mismatch_error. The operator need not be commutative. Costs ceil(log2 p) rounds
  /// of two messages; over a chain or ring p - 1. Throws usage_error if the communicator was freed.
  template <class... Args>
  auto double_exscan(Args&&... args) const;

  /// Collective over two disjoint groups: `local`, which contains this rank, and the group whose
  /// rank 0 is rank `remote_leader` here. Ranks of this communicator that are in neither group do
  /// not call it. Only rank 0 of each group need name the leader of the other. The group whose
  /// leader has the lower rank is the first one.
  ///
  /// Costs three bcasts and an allgather within each group, and two exchanges between the leaders.
  /// Throws usage_error on the leader if the rank does not exist; the other ranks then block.
  /// Throws usage_error on all ranks if the groups overlap.
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

  /// Frees this communicator and its copies: later calls throw usage_error. Local.
  void free() noexcept { detail::release(*impl_); }

  /// The algorithm of the last call of `what` on this rank, such as "allreduce/ring" or
  /// "allreduce/native". The text is empty before the first call. For reports and tests; the text
  /// lives as long as the library.
  const char* last_algorithm(collective what) const noexcept { return detail::last_algorithm(*impl_, what); }

 protected:
  // For the library.
  void take_defaults(const communicator& other) noexcept {
    default_root_ = other.default_root_;
    default_tag_ = other.default_tag_;
  }

 private:
  friend struct detail::access;
  detail::communicator_impl& native() const noexcept { return *impl_; }
  const detail::communicator_handle& shared() const noexcept { return impl_; }
  detail::collective_caller site(detail::collective_form f) const noexcept {
    return {{*impl_, f}, f.what, rank_, size_, size_, size_, 0, default_root_};
  }
  detail::communicator_impl& noted(const std::source_location& at) const noexcept {
    detail::set_call_site(*impl_, at);
    return *impl_;
  }

  detail::communicator_handle impl_;
  int rank_, size_;
  int default_root_ = 0, default_tag_ = 0;
};

}  // namespace tutti
TUTTI_API_END
