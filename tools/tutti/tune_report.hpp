// SPDX-License-Identifier: Apache-2.0
//
// Reports a campaign of tutti tune as text or as JSON.
#pragma once

#include <string>
#include <vector>

#include "tuning/campaign.hpp"

namespace tutti::tool {

using namespace tutti::detail;

struct tuned {
  std::string engine;
  std::vector<tuning::campaign_result> campaigns;  ///< one for each number of ranks
  tuning::grown result;
  std::vector<tuning::violation> violations;  ///< of the engine's own collectives
  int guideline_ranks = 0;
  double seconds = 0;
};

std::string as_text(const tuned& t);
/// Includes the document, which is JSON too.
std::string as_json(const tuned& t, const std::string& document);

}  // namespace tutti::tool
