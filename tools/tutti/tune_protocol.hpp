// SPDX-License-Identifier: Apache-2.0
//
// States how tutti tune measured, and what makes its times doubtful: more ranks than cores, and
// other programs that compute at the same time.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "engines/engine_table.hpp"
#include "tuning/job_timer.hpp"

namespace tutti::tool {

/// The measurements of all numbers of ranks. The pages are those of this process.
std::string text_of(const tuning::measured_protocol& p);
nlohmann::ordered_json json_of(const tuning::measured_protocol& p);

/// That of several campaigns with one budget.
tuning::measured_protocol joined(const tuning::measured_protocol& a, const tuning::measured_protocol& b);

/// Empty if each rank has a core, or if the engine runs several ranks on a core by design.
std::string oversubscription_of(const tuning::measured_protocol& p, const tutti::detail::engine_entry& engine,
                                int ranks);
/// Empty unless other programs took the cores. If ranks share cores, they take them from one
/// another.
std::string load_of(const tuning::measured_protocol& p, const tutti::detail::engine_entry& engine);

}  // namespace tutti::tool
