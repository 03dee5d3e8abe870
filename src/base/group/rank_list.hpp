// SPDX-License-Identifier: Apache-2.0
//
// Maps the members of a group to job ranks. A group stores a range (two numbers, made locally), a
// list, or a few known members. Known members are the neighbors, or also those 2, 4, 8 ... away.
#pragma once

#include <bit>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/group/reach.hpp"

namespace tutti::detail {

class group {
 public:
  /// Ranks first, first + stride, ... of the job. This process is member `rank`.
  static group range(int first, int stride, int size, int rank) {
    return {first, stride, size, rank, nullptr};
  }

  /// members[i] is the job rank of member i. The list is shared, because communicators are often
  /// copied.
  static group list(std::vector<int> members, int rank) {
    const int size = static_cast<int>(members.size());
    return {0, 1, size, rank, std::make_shared<const std::vector<int>>(std::move(members))};
  }

  /// The same as list(), but makes a range if the members have a constant stride.
  static group of(std::vector<int> members, int rank) {
    const int size = static_cast<int>(members.size());
    const int stride = size > 1 ? members[1] - members[0] : 1;
    for (std::size_t i = 1; i < members.size(); ++i)
      if (members[i] - members[i - 1] != stride) return list(std::move(members), rank);
    return range(members[0], stride, size, rank);
  }

  /// A group of which each member knows the members that `known` states. left[d] and right[d] are
  /// the job ranks of the members 2^d away (d = 0 only for neighbors). Entries without a member
  /// may have any value. `own` is the job rank of this member, `first` that of member 0.
  static group structure(reach known, int first, int own, int size, int rank, const std::vector<int>& left,
                         const std::vector<int>& right) {
    std::vector<int> addresses = {first, own};
    for (std::size_t d = 0; d < left.size(); ++d) addresses.insert(addresses.end(), {left[d], right[d]});
    group made = list(std::move(addresses), rank);
    made.size_ = size;
    made.known_members_ = known;
    return made;
  }

  /// The members that this one knows.
  reach known_members() const noexcept { return known_members_; }
  bool is_known(int r) const noexcept { return can_reach(known_members_, rank_, r, size_); }

  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }

  /// The job rank of member r, which this member must know. O(1).
  int address(int r) const noexcept {
    if (known_members_ != reach::any_rank) [[unlikely]]
      return known_address(r);
    return list_ ? (*list_)[static_cast<std::size_t>(r)] : first_ + r * stride_;
  }

  /// The job rank of member 0, which every member knows.
  int first_address() const noexcept { return list_ ? list_->front() : first_; }

  /// A subgroup of `size` members first, first + stride, ... of this group. The members of this
  /// group must know all others. A part of a range is a range, made in O(1).
  group part(int first, int stride, int size, int rank) const {
    if (!list_) return range(first_ + first * stride_, stride * stride_, size, rank);
    std::vector<int> members;
    members.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) members.push_back(address(first + i * stride));
    return list(std::move(members), rank);
  }

  /// The member that has this job rank; -1 if this member knows no such member. O(1) for a range,
  /// else O(known).
  int rank_of(int address) const noexcept {
    if (known_members_ != reach::any_rank) return rank_with_address(address);
    if (list_) {
      for (int r = 0; r < size_; ++r)
        if ((*list_)[static_cast<std::size_t>(r)] == address) return r;
      return -1;
    }
    const int r = (address - first_) / stride_;
    return r >= 0 && r < size_ && first_ + r * stride_ == address ? r : -1;
  }

 private:
  group(int first, int stride, int size, int rank, std::shared_ptr<const std::vector<int>> list)
      : first_(first), stride_(stride), size_(size), rank_(rank), list_(std::move(list)) {}

  // With 2 members, the same member may be the neighbor on both sides.
  int known_address(int r) const noexcept {
    if (r == rank_) return (*list_)[1];
    const unsigned up = static_cast<unsigned>(r > rank_ ? r - rank_ : size_ - (rank_ - r));
    const unsigned down = static_cast<unsigned>(size_) - up;
    // Tests whether a step of n is a known hop. `beyond`: the step wraps around the ends.
    const auto is_hop = [&](unsigned n, bool beyond) {
      return std::has_single_bit(n) && (has_log_hops(known_members_) || n == 1) &&
             (!beyond || wraps_around(known_members_));
    };
    const bool to_the_right = is_hop(up, r < rank_);
    const auto d = static_cast<std::size_t>(std::countr_zero(to_the_right ? up : down));
    return (*list_)[2 + 2 * d + (to_the_right ? 1 : 0)];
  }
  int rank_with_address(int address) const noexcept {
    if (address == (*list_)[1]) return rank_;
    for (std::size_t i = 2; i < list_->size(); ++i) {
      const int hop = 1 << (i / 2 - 1), r = i % 2 == 1 ? rank_ + hop : rank_ - hop;
      if ((*list_)[i] == address && (wraps_around(known_members_) || (r >= 0 && r < size_)))
        return (r % size_ + size_) % size_;
    }
    return -1;
  }

  int first_, stride_, size_, rank_;
  reach known_members_ = reach::any_rank;
  std::shared_ptr<const std::vector<int>> list_;
};

}  // namespace tutti::detail
