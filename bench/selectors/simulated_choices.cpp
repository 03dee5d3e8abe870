// SPDX-License-Identifier: Apache-2.0
#include "selectors/simulated_choices.hpp"

#include <stdexcept>

#include <fmt/core.h>

#include "tuning/candidates.hpp"

namespace bench {
namespace {

using namespace tutti::detail;
using namespace tutti::simulation;
using tutti::tuning::candidate;

leaf leaf_of(const resolution& found) {
  leaf l;
  l.what = found.composed.which != nullptr ? leaf::kind::composed : leaf::kind::algorithm;
  l.composed = found.composed;
  l.chosen = found.pure;
  return l;
}

// Such a candidate takes minutes to simulate. Longer segments are faster on these machines, since
// each message takes 0.3 us.
constexpr std::size_t max_segments = 512;
bool has_too_many_segments(const leaf& l, std::size_t bytes) {
  for (const algorithm_parameter_range& p : l.named()->parameters)
    if (p.which == algorithm_parameter::segment)
      return bytes / l.parameter_values()[static_cast<std::size_t>(p.which)] > max_segments;
  return false;
}

double seconds_of(simulator& simulator, const simulated_call& call, const leaf& l, const selection& trees) {
  return l.what == leaf::kind::composed ? simulator.run(call, l.composed, trees, affordable()).seconds
                                        : simulator.run(call, l.chosen, affordable()).seconds;
}

}  // namespace

simulation_options affordable() {
  simulation_options o;
  o.within.messages = 5'000'000;
  o.within.rates = 300'000'000;
  return o;
}

simulated_call call_of(const selector_cell& cell) {
  simulated_call c;
  for (std::size_t i = 0; i < tutti::collective_names.size(); ++i)
    if (tutti::collective_names[i] == cell.collective) {
      c.what = static_cast<tutti::collective>(i);
      c.count = cell.bytes / c.element_bytes;
      return c;
    }
  throw std::runtime_error(fmt::format("there is no collective {}", cell.collective));
}

simulated_choice choice_of_trees(simulator& simulator, const simulated_call& call, const selection& trees) {
  const resolution found = resolve(trees, context_of(call, simulator.links()), {});
  if (!found.served || (found.composed.which == nullptr && found.pure.pure == nullptr))
    throw std::runtime_error("no algorithm serves this call");
  const leaf l = leaf_of(found);
  try {
    return {tutti::tuning::label(l), seconds_of(simulator, call, l, trees)};
  } catch (const std::exception& e) {
    throw std::runtime_error(fmt::format("{} cannot be simulated: {}", tutti::tuning::label(l), e.what()));
  }
}

std::optional<simulated_choice> fastest_candidate(simulator& simulator, const simulated_call& call,
                                                  const selection& trees) {
  const selection_context context = context_of(call, simulator.links());
  std::vector<candidate> all = tutti::tuning::pure_candidates(context, call.count, true, {});
  const std::vector<candidate> composed = tutti::tuning::composed_candidates(context, call.count, true);
  all.insert(all.end(), composed.begin(), composed.end());
  std::optional<simulated_choice> fastest;
  for (const candidate& c : all) {
    if (has_too_many_segments(c.use, call.count * call.element_bytes)) continue;
    try {
      const double seconds = seconds_of(simulator, call, c.use, trees);
      if (!fastest || seconds < fastest->seconds) fastest = {c.name, seconds};
    } catch (const not_simulated&) {  // an inner call for which there is no algorithm
    } catch (const too_laborious&) {
    } catch (const std::length_error&) {  // too much memory
    }
  }
  return fastest;
}

}  // namespace bench
