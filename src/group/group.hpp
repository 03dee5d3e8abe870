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

  int size() const noexcept { return size_; }
  int rank() const noexcept { return rank_; }

  /// The job's rank of member r. O(1).
  int address(int r) const noexcept {
    return list_ ? (*list_)[static_cast<std::size_t>(r)] : first_ + r * stride_;
  }

 private:
  group(int first, int stride, int size, int rank, std::shared_ptr<const std::vector<int>> list)
      : first_(first), stride_(stride), size_(size), rank_(rank), list_(std::move(list)) {}

  int first_, stride_, size_, rank_;
  std::shared_ptr<const std::vector<int>> list_;
};

}  // namespace tutti
