// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks, and ranges of them, from which communicators are made. All operations are local.
#pragma once

#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

#include "tutti/kamping/error.hpp"

namespace kamping {

/// The ranks first, first + stride, ... up to last.
struct RankRange {
  int first;
  int last;
  int stride;
};

/// Several ranges in sequence.
class RankRanges {
 public:
  explicit RankRanges(std::vector<RankRange> ranges) : ranges_(std::move(ranges)) {}
  /// Copies n triples of first, last, stride in MPI's form.
  template <std::integral Number>
  RankRanges(const int (*ranges)[3], Number n) {
    for (Number i = 0; i < n; ++i) ranges_.push_back({ranges[i][0], ranges[i][1], ranges[i][2]});
  }
  template <class Ranges>
  requires requires(const Ranges& r) { r.begin(); }
  explicit RankRanges(const Ranges& ranges) : ranges_(ranges.begin(), ranges.end()) {}

  std::size_t size() const noexcept { return ranges_.size(); }
  /// The ranges in MPI's form, as MPI_Group_range_incl() takes them.
  int (*get())[3] {
    static_assert(sizeof(RankRange) == sizeof(int[3]));
    return reinterpret_cast<int(*)[3]>(ranges_.data());
  }
  bool contains(int rank) const {
    for (const int each : ranks())
      if (each == rank) return true;
    return false;
  }
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (const RankRange& r : ranges_) {
      if (r.stride == 0) throw MpiErrorException("RankRange: stride 0", MPI_ERR_ARG);
      for (int i = r.first; r.stride > 0 ? i <= r.last : i >= r.last; i += r.stride) all.push_back(i);
    }
    return all;
  }

 private:
  std::vector<RankRange> ranges_;
};

enum class GroupEquality { Identical, Similar, Unequal };

/// A list of ranks without communication. It can be moved.
class Group {
 public:
  explicit Group(MPI_Group group, bool owning = false) : group_(group), owning_(owning) {}
  template <class Comm>
  requires requires(const Comm& comm) { comm.mpi_communicator(); }
  explicit Group(const Comm& comm) : owning_(true) {
    internal::check_mpi(MPI_Comm_group(comm.mpi_communicator(), &group_), "MPI_Comm_group");
  }
  Group(Group&& other) noexcept
      : group_(std::exchange(other.group_, MPI_GROUP_EMPTY)), owning_(std::exchange(other.owning_, false)) {}
  Group& operator=(Group&& other) noexcept {
    std::swap(group_, other.group_);
    std::swap(owning_, other.owning_);
    return *this;
  }
  ~Group() {
    int over = 0;
    if (owning_ && group_ != MPI_GROUP_EMPTY && MPI_Finalized(&over) == MPI_SUCCESS && over == 0)
      MPI_Group_free(&group_);
  }
  static Group empty() { return Group(MPI_GROUP_EMPTY); }
  static Group world() {
    Group g(MPI_GROUP_NULL, true);
    internal::check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &g.group_), "MPI_Comm_group");
    return g;
  }

  Group set_union(const Group& other) const { return made(MPI_Group_union, other); }
  Group set_intersection(const Group& other) const { return made(MPI_Group_intersection, other); }
  Group set_difference(const Group& other) const { return made(MPI_Group_difference, other); }
  Group intersection(const Group& other) const { return set_intersection(other); }
  Group difference(const Group& other) const { return set_difference(other); }
  /// The ranks of a list, in its order.
  Group include(const std::vector<int>& ranks) const {
    Group g(MPI_GROUP_NULL, true);
    internal::check_mpi(MPI_Group_incl(group_, static_cast<int>(ranks.size()), ranks.data(), &g.group_),
                        "MPI_Group_incl");
    return g;
  }

  std::size_t size() const {
    int n = 0;
    internal::check_mpi(MPI_Group_size(group_, &n), "MPI_Group_size");
    return static_cast<std::size_t>(n);
  }
  /// The rank of the caller; MPI_UNDEFINED if it is not in the group.
  int rank() const {
    int r = 0;
    internal::check_mpi(MPI_Group_rank(group_, &r), "MPI_Group_rank");
    return r;
  }
  /// Translates `rank` to the other group; MPI_UNDEFINED if that does not contain it.
  int translate(int rank, const Group& other) const {
    int translated = MPI_UNDEFINED;
    internal::check_mpi(MPI_Group_translate_ranks(group_, 1, &rank, other.group_, &translated),
                        "MPI_Group_translate_ranks");
    return translated;
  }
  GroupEquality compare(const Group& other) const {
    int result = MPI_UNEQUAL;
    internal::check_mpi(MPI_Group_compare(group_, other.group_, &result), "MPI_Group_compare");
    return result == MPI_IDENT     ? GroupEquality::Identical
           : result == MPI_SIMILAR ? GroupEquality::Similar
                                   : GroupEquality::Unequal;
  }
  bool is_identical(const Group& other) const { return compare(other) == GroupEquality::Identical; }
  bool has_same_ranks(const Group& other) const { return compare(other) != GroupEquality::Unequal; }
  MPI_Group mpi_group() const noexcept { return group_; }

 private:
  Group made(int (*f)(MPI_Group, MPI_Group, MPI_Group*), const Group& other) const {
    Group g(MPI_GROUP_NULL, true);
    internal::check_mpi(f(group_, other.group_, &g.group_), "MPI_Group set operation");
    return g;
  }

  MPI_Group group_ = MPI_GROUP_NULL;
  bool owning_;
};

}  // namespace kamping
