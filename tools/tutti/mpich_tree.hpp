// SPDX-License-Identifier: Apache-2.0
//
// MPICH's selection files (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE): objects whose keys are tests, as
// "comm_size<=8", tried in their order, down to keys that name an algorithm, as
// "algorithm=MPIR_Bcast_intra_binomial". They become decision trees of pure algorithms.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tool {

/// The parameters of an algorithm as they stand behind it: "k=4" as {"k", "4"}.
using mpich_parameters = std::map<std::string, std::string>;

/// What MPICH calls an algorithm, as a leaf of tutti's. False if there is no counterpart; then `why` says
/// what there is, if anything. `left_out` gets the parameters that have no counterpart.
bool counterpart_of(collective what, std::string_view name, const mpich_parameters& parameters, leaf& made,
                    std::string& why, std::vector<std::string>& left_out);

struct imported {
  document made;
  std::vector<std::string> notes;  ///< "FILE:LINE: what has no counterpart", by line
  std::string problem;             ///< why the text is no selection file; empty if it is one
};

/// A document without faults: every leaf is legal for the calls that reach it. Where MPICH names what has no
/// counterpart, the algorithm stands that serves every call; a region of nothing else is left to the trees
/// below.
imported import_mpich(std::string_view text, const std::string& file);

}  // namespace tutti::tool
