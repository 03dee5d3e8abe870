// SPDX-License-Identifier: Apache-2.0
//
// Defines the collectives on symbols: the initial contents of the buffers of a call, and the
// required contents of the outputs at its end.
#pragma once

#include <vector>

#include "proof/abstract_call.hpp"
#include "proof/symbols.hpp"

namespace tutti::proof {

class oracle {
 public:
  /// Keeps references: both objects must outlive it.
  oracle(const abstract_call& p, symbols& s);
  /// Knows the operand of this rank only. It serves fill() for this rank.
  oracle(const abstract_call& p, symbols& s, int rank);

  /// The buffers of a rank before the call, including gaps.
  void fill(int rank, std::vector<symbol>& input, std::vector<symbol>& output) const;
  /// The required contents of this rank's output, by element; `uninitialized` if any value is
  /// allowed.
  std::vector<symbol> expected(int rank) const;

 private:
  void make_operand(int rank);
  void combine_groups();
  void combine_prefixes(bool inclusive);
  const std::vector<symbol>& reduced(int rank) const {
    return reduced_[call_.remote_group(rank).first == 0 ? 0 : 1];
  }

  const abstract_call& call_;
  symbols& symbols_;
  std::vector<std::vector<symbol>> operands_;  // by rank, and by element of the operand's buffer
  // of the group that begins with rank 0, and of the other group
  std::vector<symbol> reduced_[2];
  std::vector<std::vector<symbol>> prefixes_;
};

}  // namespace tutti::proof
