// SPDX-License-Identifier: Apache-2.0
//
// The names of the program's communicators. All ranks of a communicator compute the same name without a
// message: from the name of the communicator that it was made of, and from how many were made of that one
// before, since all its ranks call these functions in one order. So tutti needs no communicator of MPI's for
// each of the program's, and creates none inside a collective.
//
// Two communicators of this process that exist at one time never have one name together with one first
// member: those of one call have no member in common, and so have the parts of these.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/group/group_name.hpp"
#include "frontends/preload/optional_mutex.hpp"
#include "frontends/preload/real_mpi.hpp"

namespace tutti::preload {

class communicator_names {
 public:
  /// `several`: threads. Names MPI_COMM_WORLD and MPI_COMM_SELF.
  explicit communicator_names(bool several);

  /// The name of what the ranks of `parent` are about to create together; to be asked once for each such call
  /// of the program's. Nothing: `parent` has none, and so its children have none.
  std::optional<group_name> next_of(MPI_Comm parent);
  /// The same where the members of `group` alone create it, perhaps several threads at once with other tags.
  std::optional<group_name> next_of(MPI_Comm parent, MPI_Group group, int tag);
  /// A name that this process gives to no other communicator, and that no other process gives. `rank`: in
  /// MPI_COMM_WORLD.
  group_name unused(int rank);

  void give(MPI_Comm made, const group_name& name);
  /// To be called before the program frees the communicator: its handle may mean another one at once.
  void forget(MPI_Comm gone);
  std::optional<group_name> of(MPI_Comm comm);

 private:
  struct line {
    group_name name;
    std::uint64_t made = 0;  // of it, by all its ranks
    std::unordered_map<group_name, std::uint64_t, group_name::hash> made_by_some;
  };

  turns lock_;  // no call to MPI is made under it
  std::unordered_map<MPI_Comm, line> all_;
  std::uint64_t unused_ = 0;
};

}  // namespace tutti::preload
