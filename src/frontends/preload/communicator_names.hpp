// SPDX-License-Identifier: Apache-2.0
//
// The names of the program's communicators. All ranks of a communicator compute the same name
// without a message. It follows from the name of the parent and the number of communicators made
// from it before. All ranks of the parent call these functions in one order. So tutti needs no MPI
// communicator of its own for each of the program's, and creates none inside a collective.
//
// Two communicators of this process that exist at one time never have both the same name and the
// same first member. The communicators of one call have no common member, and neither have their
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "base/group/group_name.hpp"
#include "frontends/preload/optional_mutex.hpp"
#include "frontends/preload/real_mpi.hpp"

namespace tutti::preload {

using namespace tutti::detail;

class communicator_names {
 public:
  /// `multithreaded`: several threads of the program may call. Names MPI_COMM_WORLD and
  /// MPI_COMM_SELF.
  explicit communicator_names(bool multithreaded);

  /// The name of the communicator that the ranks of `parent` are about to create. Call it once for
  /// each such call of the program. Returns nothing if `parent` has no name; its children have none
  /// either.
  std::optional<group_name> next_name(MPI_Comm parent);
  /// The same if only the members of `group` create it. Several threads may do so at once with
  /// other tags.
  std::optional<group_name> next_name(MPI_Comm parent, MPI_Group group, int tag);
  /// A name that neither this process nor another one gives to another communicator. `rank`: in
  /// MPI_COMM_WORLD.
  group_name unique(int rank);

  void set(MPI_Comm comm, const group_name& name);
  /// Call it before the program frees the communicator: MPI may reuse its handle at once.
  void remove(MPI_Comm comm);
  std::optional<group_name> find(MPI_Comm comm);

 private:
  struct entry {
    group_name name;
    std::uint64_t made = 0;  // number of communicators made of it by all its ranks
    std::unordered_map<group_name, std::uint64_t, group_name::hash> made_by_groups;
  };

  optional_mutex mutex_;  // not held during calls to MPI
  std::unordered_map<MPI_Comm, entry> all_;
  std::uint64_t unused_ = 0;
};

}  // namespace tutti::preload
