// SPDX-License-Identifier: Apache-2.0
//
// Two groups: every collective goes from one group to the other, as in an MPI intercommunicator.
#pragma once

#include "tutti/communicator.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// communicator::between(first) makes it: its ranks [0, first) are the first group, the others the
/// second. rank(), size() and root(...) count through both groups.
///
/// The data of a collective comes from one group and goes to the other:
///
///     bcast, scatter(v)       from the root to all ranks of the other group
///     reduce, gather(v)       from all ranks of the other group to the root
///     allreduce               each rank receives the combination of the other group's elements
///     allgather(v)            each rank receives the blocks of the other group's ranks
///     alltoall(v, w)          blocks go to and come from the ranks of the other group
///     reduce_scatter(_block)  the other group's combination, divided over the own group;
///                             both groups pass the same number of elements
///     barrier                 of both
///
/// Lists of counts have an entry for each rank of the other group (reduce_scatter: of its own
/// group). In a rooted call the other ranks of the root's own group contribute nothing. They still
/// call it, with buffers that are neither read nor written. The root of a reduce or gather passes a
/// send_buf as long as those of the other group; the call does not read it. There are no in-place
/// forms: send_recv_buf(...) throws usage_error, except in bcast. There are no scans and no _single
/// forms. All other parameters, results, exchanges of counts, costs and errors are those of
/// communicator.
///
/// ```cpp
/// if (world.size() < 2) return;
/// intercommunicator sides = world.between(1);  // rank 0, and the others
/// int given = sides.in_first_group() ? 10 : 1;
/// auto taken = sides.allreduce(send_buf(given), op(std::plus<>{}));
/// assert(taken[0] == (sides.in_first_group() ? sides.remote_size() : 10));
/// ```
class intercommunicator : public collectives<intercommunicator> {
 public:
  /// For the library: communicator::between() makes it.
  explicit intercommunicator(detail::communicator_handle communicator_impl)
      : impl_(std::move(communicator_impl)),
        rank_(detail::rank_of(*impl_)),
        size_(detail::size_of(*impl_)),
        first_(detail::first_group(*impl_)) {}

  intercommunicator(const intercommunicator&) = default;
  intercommunicator& operator=(const intercommunicator&) = default;
  /// The moved-from object keeps its ranks and sizes; its calls throw usage_error. Without
  /// memory for that, it stays a copy.
  intercommunicator(intercommunicator&& other) noexcept
      : impl_(detail::move_from(other.impl_, other.rank_)),
        rank_(other.rank_),
        size_(other.size_),
        first_(other.first_) {}
  intercommunicator& operator=(intercommunicator&& other) noexcept {
    if (this == &other) return *this;
    impl_ = detail::move_from(other.impl_, other.rank_);
    rank_ = other.rank_;
    size_ = other.size_;
    first_ = other.first_;
    return *this;
  }
  ~intercommunicator() = default;

  int rank() const noexcept { return rank_; }  ///< of the caller among both groups, 0 .. size() - 1
  int size() const noexcept { return size_; }  ///< ranks of both groups
  /// Whether the caller is one of ranks [0, first).
  bool in_first_group() const noexcept { return rank_ < first_; }
  /// Of the caller in its own group, 0 .. local_size() - 1.
  int local_rank() const noexcept { return in_first_group() ? rank_ : rank_ - first_; }
  int local_size() const noexcept { return in_first_group() ? first_ : size_ - first_; }
  int remote_size() const noexcept { return size_ - local_size(); }  ///< ranks of the other group

  /// Collective: the same two groups, with separate traffic. Costs the same as between().
  intercommunicator duplicate() const { return intercommunicator(detail::duplicate(*impl_)); }
  /// Frees this communicator and its copies: later calls throw usage_error. Local.
  void free() noexcept { detail::release(*impl_); }
  /// The same as communicator::last_algorithm().
  const char* last_algorithm(collective what) const noexcept { return detail::last_algorithm(*impl_, what); }

 private:
  friend struct detail::access;
  detail::communicator_impl& native() const noexcept { return *impl_; }
  const detail::communicator_handle& shared() const noexcept { return impl_; }
  detail::collective_caller site(detail::collective_form f) const noexcept {
    return {{*impl_, f},
            f.what,
            rank_,
            size_,
            detail::send_block_count(*impl_, f.what),
            detail::recv_block_count(*impl_, f.what),
            first_};
  }

  detail::communicator_handle impl_;
  int rank_, size_, first_;
};

inline intercommunicator communicator::inter(const communicator& local, int remote_leader,
                                             std::source_location at) const {
  return intercommunicator(detail::between_groups(noted(at), *local.impl_, remote_leader));
}
inline intercommunicator communicator::between(int first, std::source_location at) const {
  return intercommunicator(detail::between(noted(at), first));
}

}  // namespace tutti
TUTTI_API_END
