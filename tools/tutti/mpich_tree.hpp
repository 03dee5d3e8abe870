// SPDX-License-Identifier: Apache-2.0
//
// Converts MPICH's selection files (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE) into decision trees
// of pure algorithms. A file contains objects whose keys are tests, for example "comm_size<=8",
// tried in order. The innermost keys name algorithms, for example
// "algorithm=MPIR_Bcast_intra_binomial".
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// The parameters that follow the name of an algorithm: "k=4" as {"k", "4"}.
using mpich_parameters = std::map<std::string, std::string>;

/// Converts MPICH's name of an algorithm into a leaf. Returns false if there is no counterpart;
/// `why` then names the closest one, if any. `left_out` receives the parameters without a
/// counterpart.
bool counterpart_of(collective what, std::string_view name, const mpich_parameters& parameters, leaf& made,
                    std::string& why, std::vector<std::string>& left_out);

struct imported {
  document made;
  std::vector<std::string> notes;  ///< "FILE:LINE: what has no counterpart", ordered by line
  std::string problem;             ///< why the text is no selection file; else empty
};

/// Returns a valid document: every leaf is legal for the calls that reach it. Algorithms without a
/// counterpart are replaced by one that serves every call. A region that contains nothing else is
/// left to the underlying trees.
imported import_mpich(std::string_view text, const std::string& file);

}  // namespace tutti::tool
