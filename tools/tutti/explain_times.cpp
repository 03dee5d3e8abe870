// SPDX-License-Identifier: Apache-2.0
#include "explain_times.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/core.h>

#include "engines/engine_table.hpp"
#include "engines/mpi/job_trees.hpp"
#include "machine_argument.hpp"
#include "simulation/simulator.hpp"
#include "tuning/candidates.hpp"
#include "tuning/peer_choice.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

constexpr int max_predicted_ranks = 1024;
constexpr std::uint64_t max_messages = 500'000, max_rates = 5'000'000;

// The nearest of the machines for which the built-in trees are simulated.
std::string machine_of(const queried_call& c) {
  const bool slow = mpi::network_setting() == mpi::network_speed::slow;
  const int per_node = c.context.ranks_per_node;
  return fmt::format("{}-cluster-{}", slow ? "slow" : "fast",
                     per_node < 2     ? 1
                     : per_node <= 16 ? 8
                     : per_node <= 45 ? 32
                                      : 64);
}

simulation::simulated_call simulated_call_of(const queried_call& c) {
  simulation::simulated_call made;
  made.what = c.arguments.what;
  made.root = c.arguments.root;
  made.count = c.arguments.count;
  made.element_bytes = c.arguments.type.size;
  made.in_place = c.context.call.in_place;
  made.ordered = !c.context.call.commutative;
  return made;
}

// Microseconds; nothing if it cannot be simulated or sends too many messages.
std::optional<double> simulated_us(simulation::simulator& on, const simulation::simulated_call& c,
                                   const composed_choice& composed, const choice& pure,
                                   const selection& inner) {
  simulation::simulation_options how;
  how.within.messages = max_messages;
  how.within.rates = max_rates;
  try {
    return 1e6 * (composed.which != nullptr ? on.run(c, composed, inner, how) : on.run(c, pure, how)).seconds;
  } catch (const simulation::too_laborious&) {
  } catch (const simulation::not_simulated&) {
  } catch (const std::length_error&) {
  }
  return {};
}

}  // namespace

std::optional<predicted_times> predict(const explain_result& a) {
  const queried_call& c = a.requested;
  const engine_entry& engine = *find_engine(c.engine);
  const selection_context& s = c.context;
  if (engine.trees == nullptr || s.nodes < 2 || s.ranks_per_node == 0 || !s.node_consecutive ||
      s.call.inter || s.reaches != reach::any_rank || s.call.ranks > max_predicted_ranks ||
      is_neighborhood(s.call.what) || !a.rejection.empty() || c.topology.levels() > 1)
    return {};
  predicted_times t;
  t.machine = machine_of(c);
  simulation::machine m = read_machine_argument(t.machine).made;
  t.ranks_per_node = m.ranks_per_node = s.ranks_per_node;
  m.sockets = 1;
  simulation::simulator on(m, s.call.ranks);
  const simulation::simulated_call call = simulated_call_of(c);
  selection_context without_native = s;
  without_native.offer(native_offer::none);
  // The choice, or what would be chosen without the native collective.
  const resolution own = a.chosen() != nullptr ? a.found : resolve(a.settings->by(), without_native, {});
  if (!own.served || (own.composed.which == nullptr && own.pure.pure == nullptr)) return {};
  const auto own_us = simulated_us(on, call, own.composed, own.pure, a.settings->by());
  if (!own_us) return {};
  t.own_us = *own_us;
  leaf l;
  l.what = own.composed.which != nullptr ? leaf::kind::composed : leaf::kind::algorithm;
  l.composed = own.composed;
  l.chosen = own.pure;
  t.own = tuning::label(l);
  t.native_us = std::numeric_limits<double>::infinity();
  for (const tuning::peer_mpi mpi : {tuning::peer_mpi::open_mpi, tuning::peer_mpi::mpich}) {
    if (!c.mpi.empty() && (c.mpi == "mpich") != (mpi == tuning::peer_mpi::mpich)) continue;
    const auto its = tuning::peer_choice(mpi, without_native);
    if (!its) continue;
    const auto us = simulated_us(on, call, its->composed, its->pure, tuning::peer_selection(mpi));
    if (!us) return {};  // perhaps it is the fastest
    if (*us >= t.native_us) continue;
    t.native_us = *us;
    t.native = mpi == tuning::peer_mpi::mpich ? "MPICH" : "Open MPI";
  }
  if (!std::isfinite(t.native_us)) return {};
  return t;
}

std::string measurement_key(collective what, int ranks, std::size_t bytes) {
  return fmt::format("measured {} on {} ranks, {} bytes", name_of(what), ranks, bytes);
}

std::string measured_near(const explain_result& a) {
  const call& c = a.requested.arguments;
  const auto wanted = static_cast<double>(std::max<std::size_t>(1, c.count * c.type.size));
  const std::string start =
      fmt::format("measured {} on {} ranks, ", name_of(c.what), a.requested.context.call.ranks);
  double nearest = std::log(4.0) + 1e-9;
  std::string found;
  for (const auto& [key, value] : a.trees().machine) {
    if (!key.starts_with(start)) continue;
    std::size_t bytes = 0;
    std::from_chars(key.data() + start.size(), key.data() + key.size(), bytes);
    const double distance = std::abs(std::log(static_cast<double>(std::max<std::size_t>(1, bytes)) / wanted));
    if (distance > nearest) continue;
    nearest = distance;
    found = fmt::format("{} bytes: {}", bytes, value);
  }
  return found;
}

std::string times_as_text(const explain_result& a) {
  std::string text;
  if (const auto t = predict(a))
    text += fmt::format(
        "  predicted on {} with {} ranks per node: {} {:.1f} us, {} {:.1f} us ({:.2f} times)\n", t->machine,
        t->ranks_per_node, t->own, t->own_us, t->native, t->native_us, t->native_us / t->own_us);
  if (const std::string measured = measured_near(a); !measured.empty())
    text += fmt::format("  measured with {}\n", measured);
  return text;
}

void add_times(json& j, const explain_result& a) {
  if (const auto t = predict(a))
    j["predicted"] = {{"machine", t->machine},
                      {"ranks_per_node", t->ranks_per_node},
                      {"own", t->own},
                      {"own_seconds", t->own_us * 1e-6},
                      {"native", t->native},
                      {"native_seconds", t->native_us * 1e-6},
                      {"gain", t->native_us / t->own_us}};
  if (const std::string measured = measured_near(a); !measured.empty()) j["measured"] = measured;
}

}  // namespace tutti::tool
