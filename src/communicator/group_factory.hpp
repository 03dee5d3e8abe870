// SPDX-License-Identifier: Apache-2.0
//
// Makes communicators from one communicator: duplicates, parts, graphs, two groups. It also names
// them. Most of them are made without a message. Their members compute the same name from the
// parent, the ranks, and how often the same was made before. The others get an id that no member
// has used. The functions of tutti/detail/abi.hpp and structure.hpp are its callers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/group/group_name.hpp"
#include "communicator/checked_mode.hpp"
#include "communicator/communicator_state.hpp"
#include "communicator/control_calls.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::detail {

class group_factory {
 public:
  /// `merged` is a communicator of the same ranks as one group, if `parent` has two groups.
  group_factory(communicator_state& parent, control_calls& control, checked_mode& checked,
                communicator_handle&& merged) noexcept
      : parent_(parent), control_(control), checked_mode_(checked), merged_(std::move(merged)) {}
  group_factory(const group_factory&) = delete;
  group_factory& operator=(const group_factory&) = delete;

  // --- local
  communicator_handle range(int first, int last, int stride);
  communicator_handle list(std::span<const int> ranks);
  /// The rank in `to` of a rank of the parent; rank::null if it is no member.
  int translate(int rank, const communicator_state& to, const char* operation) const;
  /// A group of these members. All of them pass the same `id`, which none has used.
  communicator_handle make_from_members(const group& members, std::uint64_t id);
  /// The smallest id that this rank has not used.
  std::uint64_t next_unused_id() const noexcept { return parent_.this_rank().next_id; }

  // --- collective
  communicator_handle duplicate();
  /// The same ranks with neighbors, or as two groups.
  communicator_handle with_topology(topology shape, const char* operation);
  /// If `bins` is given, colors are 0 .. bins - 1, and keys are ignored.
  communicator_handle split(int color, int key, const char* operation, int bins = no_bins);
  static constexpr int no_bins = 0x7fffffff;
  communicator_handle between_groups(group_factory& local, int remote_leader);
  distinct_number number_distinct(std::string_view text);
  /// The job's ranks of all members.
  std::vector<int> addresses(const char* operation);

  /// The message of a rank to the others in a split.
  struct split_request {
    std::uint64_t id;
    int color, key;
  };

 private:
  communicator_handle make_locally(const group& members, group_name name);
  std::uint64_t agree_on_unused_id();
  std::unique_ptr<context> open_context();

  communicator_state& parent_;
  control_calls& control_;
  checked_mode& checked_mode_;
  communicator_handle merged_;
  /// The number of times that each name was made.
  std::unordered_map<group_name, std::uint32_t, group_name::hash> uses_of_name_;
};

}  // namespace tutti::detail
