// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/communicator_names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tutti::preload {
namespace {

// Communicators that are made in different ways never have the same name.
constexpr group_name root{0x707265, 0x6c6f6164};
enum origin : std::uint64_t { predefined = 1, from_all_ranks, from_group, from_one_rank };

// The ranks of the members in MPI_COMM_WORLD; empty if a member is not in it.
std::vector<int> in_world(MPI_Group group) {
  int size = 0;
  MPI_Group world = MPI_GROUP_NULL;
  if (PMPI_Group_size(group, &size) != MPI_SUCCESS || PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS)
    return {};
  std::vector<int> mine(static_cast<std::size_t>(size)), ranks(mine.size());
  std::iota(mine.begin(), mine.end(), 0);
  if (PMPI_Group_translate_ranks(group, size, mine.data(), world, ranks.data()) != MPI_SUCCESS ||
      std::find(ranks.begin(), ranks.end(), MPI_UNDEFINED) != ranks.end())
    ranks.clear();
  PMPI_Group_free(&world);
  return ranks;
}

}  // namespace

communicator_names::communicator_names(bool multithreaded) : mutex_(multithreaded) {
  all_[MPI_COMM_WORLD].name = root.with(predefined, 0);
  all_[MPI_COMM_SELF].name = root.with(predefined, 1);
}

std::optional<group_name> communicator_names::next_name(MPI_Comm parent) {
  const auto held = mutex_.lock();
  const auto at = all_.find(parent);
  if (at == all_.end()) return {};
  return at->second.name.with(from_all_ranks, at->second.made++);
}

std::optional<group_name> communicator_names::next_name(MPI_Comm parent, MPI_Group group, int tag) {
  const std::vector<int> ranks = group == MPI_GROUP_NULL ? std::vector<int>() : in_world(group);
  if (ranks.empty()) return {};
  const auto held = mutex_.lock();
  const auto at = all_.find(parent);
  if (at == all_.end()) return {};
  group_name name = at->second.name.with(from_group, static_cast<std::uint64_t>(tag));
  for (const int r : ranks) name = name.with(static_cast<std::uint64_t>(r));
  return name.with(at->second.made_by_groups[name]++);
}

group_name communicator_names::unique(int rank) {
  const auto held = mutex_.lock();
  return root.with(from_one_rank, static_cast<std::uint64_t>(rank)).with(unused_++);
}

void communicator_names::set(MPI_Comm comm, const group_name& name) {
  const auto held = mutex_.lock();
  all_.insert_or_assign(comm, entry{name, 0, {}});
}

void communicator_names::remove(MPI_Comm comm) {
  if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) return;  // MPI reports an error
  const auto held = mutex_.lock();
  all_.erase(comm);
}

std::optional<group_name> communicator_names::find(MPI_Comm comm) {
  const auto held = mutex_.lock();
  const auto at = all_.find(comm);
  return at == all_.end() ? std::nullopt : std::optional(at->second.name);
}

}  // namespace tutti::preload
