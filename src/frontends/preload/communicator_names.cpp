// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/communicator_names.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tutti::preload {
namespace {

// Communicators that are made in different ways never have the same name.
constexpr group_name root{0x707265, 0x6c6f6164};
enum way : std::uint64_t { predefined = 1, by_all, by_some, by_one };

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

communicator_names::communicator_names(bool several) : lock_(several) {
  all_[MPI_COMM_WORLD].name = root.with(predefined, 0);
  all_[MPI_COMM_SELF].name = root.with(predefined, 1);
}

std::optional<group_name> communicator_names::next_of(MPI_Comm parent) {
  const auto held = lock_.take();
  const auto at = all_.find(parent);
  if (at == all_.end()) return {};
  return at->second.name.with(by_all, at->second.made++);
}

std::optional<group_name> communicator_names::next_of(MPI_Comm parent, MPI_Group group, int tag) {
  const std::vector<int> ranks = group == MPI_GROUP_NULL ? std::vector<int>() : in_world(group);
  if (ranks.empty()) return {};
  const auto held = lock_.take();
  const auto at = all_.find(parent);
  if (at == all_.end()) return {};
  group_name name = at->second.name.with(by_some, static_cast<std::uint64_t>(tag));
  for (const int r : ranks) name = name.with(static_cast<std::uint64_t>(r));
  return name.with(at->second.made_by_some[name]++);
}

group_name communicator_names::unused(int rank) {
  const auto held = lock_.take();
  return root.with(by_one, static_cast<std::uint64_t>(rank)).with(unused_++);
}

void communicator_names::give(MPI_Comm made, const group_name& name) {
  const auto held = lock_.take();
  all_.insert_or_assign(made, line{name, 0, {}});
}

void communicator_names::forget(MPI_Comm gone) {
  if (gone == MPI_COMM_WORLD || gone == MPI_COMM_SELF) return;  // MPI reports an error
  const auto held = lock_.take();
  all_.erase(gone);
}

std::optional<group_name> communicator_names::of(MPI_Comm comm) {
  const auto held = lock_.take();
  const auto at = all_.find(comm);
  return at == all_.end() ? std::nullopt : std::optional(at->second.name);
}

}  // namespace tutti::preload
