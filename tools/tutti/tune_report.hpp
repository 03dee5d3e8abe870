// SPDX-License-Identifier: Apache-2.0
//
// Reports a campaign of tutti tune as text or as JSON.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuning/campaign.hpp"
#include "tuning/job_timer.hpp"

namespace tutti::tool {

using namespace tutti::detail;

struct tuned {
  std::string engine;
  std::string trees;  ///< the built-in ones that the choices are compared with
  std::vector<tuning::campaign_result> campaigns;    ///< one for each number of ranks
  std::vector<tuning::measured_protocol> protocols;  ///< of each
  std::map<std::string, std::string> warnings;       ///< "load", "oversubscribed"
  tuning::grown result;
  std::vector<tuning::violation> violations;  ///< of the engine's own collectives
  int guideline_ranks = 0;
  double seconds = 0;
};

std::string as_text(const tuned& t);
/// Includes the document, which is JSON too.
std::string as_json(const tuned& t, const std::string& document);

}  // namespace tutti::tool
