// SPDX-License-Identifier: Apache-2.0
//
// The times that speak for a choice over several nodes, or against it: what a simulation predicts
// for it and for the MPI's own collective, and what `tutti tune` measured. `tutti explain` prints
// them.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "explain.hpp"

namespace tutti::tool {

struct predicted_times {
  std::string machine;  ///< the name of a machine of the folder machines/
  int ranks_per_node = 1;
  std::string own;  ///< the choice or, if it is native, the one without native collectives
  double own_us = 0;
  std::string native;  ///< the MPI whose choice is the fastest
  double native_us = 0;
};

/// Nothing if the engine has no trees for several nodes, if the call is not one of these or its
/// nodes have inner levels, or if it cannot be simulated in about a second.
std::optional<predicted_times> predict(const explain_result& a);

/// The measurement nearest to the call with the same number of ranks, as `tutti tune` wrote it into
/// the document. Empty if there is none with a quarter to four times the size.
std::string measured_near(const explain_result& a);
/// The key of such a measurement in document::machine.
std::string measurement_key(collective what, int ranks, std::size_t bytes);

std::string times_as_text(const explain_result& a);
/// Adds "predicted" and "measured", if there are any.
void add_times(nlohmann::ordered_json& j, const explain_result& a);

}  // namespace tutti::tool
