// SPDX-License-Identifier: Apache-2.0
//
// The lengths of all blocks of a test case, in elements, without tables. make_abstract_call() makes
// its tables from them.
#pragma once

#include "proof/abstract_call.hpp"

namespace tutti::proof {

class block_rule {
 public:
  enum class side : std::uint8_t { in, out };

  explicit block_rule(const case_options& w);
  const case_options& options() const noexcept { return options_; }
  /// The call without counts, tables and neighbors.
  const abstract_call& head() const noexcept { return head_; }
  bool has_table(side which, int rank) const;
  /// The rank to which each block of a table belongs, in the order of the table.
  std::vector<int> block_owners(side which, int rank) const;
  /// The same if the owners are consecutive ranks, as in all collectives but those of neighbors.
  abstract_call::range owner_range(side which, int rank) const;
  /// The length of the block that belongs to `owner` in this table of `rank`.
  std::size_t length(side which, int rank, int owner) const;
  std::size_t count(int rank) const;  ///< abstract_call::counts
  std::vector<int> sources(int rank) const;
  std::vector<int> destinations(int rank) const;

 private:
  case_options options_;
  abstract_call head_;           // without counts and tables
  std::size_t padding_[2] = {};  // of reduce_scatter: added to the last block of a group
};

}  // namespace tutti::proof
