// SPDX-License-Identifier: Apache-2.0
//
// What the collectives are, in symbols: how the buffers of a call begin, and what must stand in them at its
// end.
#pragma once

#include <vector>

#include "proof/abstract_call.hpp"
#include "proof/symbols.hpp"

namespace tutti::proof {

class oracle {
 public:
  /// Refers to both while it is used.
  oracle(const plan& p, symbols& s);

  /// The buffers of a rank before the call, gaps included.
  void fill(int rank, std::vector<symbol>& input, std::vector<symbol>& output) const;
  /// What must stand in this rank's output: by element; `uninitialised` where anything may.
  std::vector<symbol> expected(int rank) const;

 private:
  void combine_groups();
  void combine_prefixes(bool inclusive);
  const std::vector<symbol>& reduced(int rank) const {
    return reduced_[plan_.others(rank).first == 0 ? 0 : 1];
  }

  const plan& plan_;
  symbols& symbols_;
  std::vector<std::vector<symbol>> operands_;  // by rank and element of the operand's buffer
  std::vector<symbol> reduced_[2];             // of the group that begins with rank 0, and of the other
  std::vector<std::vector<symbol>> prefixes_;
};

}  // namespace tutti::proof
