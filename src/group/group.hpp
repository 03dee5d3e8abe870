// SPDX-License-Identifier: Apache-2.0
//
// How a member of a group finds another: a range of the job's ranks (two numbers, made locally), or a list.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tutti {

class group {
 public:
  /// Ranks first, first + stride, ... of the job; this process is member `rank`.
  static group range(int first, int stride, int size, int rank) {
    return {first, stride, size, rank, nullptr};
  }

  /// members[i] is the job's rank of member i. Shared, since communicators are copied freely.
  static group list(std::vector<int> members, int rank) {
    const int size = static_cast<int>(members.size());
    return {0, 1, size, rank, std::make_shared<const std::vector<int>>(std::move(members))};
  }

  /// The same, as a range where the members lie at one distance from each other.
  static group of(std::vector<int> members, int rank) {
    const int size = static_cast<int>(members.size());
    const int stride = size > 1 ? members[1] - members[0] : 1;
    for (std::size_t i = 1; i < members.size(); ++i)
      if (members[i] - members[i - 1] != stride) return list(std::move(members), rank);
    return range(members[0], stride, size, rank);
  }

  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }

  /// The job's rank of member r. O(1).
  int address(int r) const noexcept {
    return list_ ? (*list_)[static_cast<std::size_t>(r)] : first_ + r * stride_;
  }

  /// Members first, first + stride, ... of this group, `size` of them. Of a range it is one, in O(1).
  group part(int first, int stride, int size, int rank) const {
    if (!list_) return range(first_ + first * stride_, stride * stride_, size, rank);
    std::vector<int> members;
    members.reserve(static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) members.push_back(address(first + i * stride));
    return list(std::move(members), rank);
  }

  /// Which member has this job's rank; -1: none. O(1) of a range, else O(size).
  int rank_of(int address) const noexcept {
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

  int first_, stride_, size_, rank_;
  std::shared_ptr<const std::vector<int>> list_;
};

}  // namespace tutti
