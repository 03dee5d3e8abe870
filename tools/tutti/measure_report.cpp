// SPDX-License-Identifier: Apache-2.0
#include "measure_report.hpp"

#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "simulation_report.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using tuning::residual;

std::string size_name(std::size_t bytes) {
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string_view place_of(const residual& r) {
  if (r.is_collective) return "collectives, which the fit does not know";
  if (r.is_local) return "local work of all ranks";
  return r.between_nodes ? "messages between nodes" : "messages within a node";
}

std::string summary_of(const measure_report& r, bool collectives) {
  const tuning::error_summary s = tuning::summarize(r.residuals, collectives);
  return fmt::format("mean {:.1f} %, maximum {:.1f} %", 100 * s.mean, 100 * s.max);
}

json summary_json(const measure_report& r, bool collectives) {
  const tuning::error_summary s = tuning::summarize(r.residuals, collectives);
  return {{"mean", s.mean}, {"max", s.max}};
}

}  // namespace

std::string oversubscription_of(const tuning::measured_machine& m) {
  if (!m.oversubscribed()) return "";
  return fmt::format(
      "{} ranks share {} core{}: the times include waiting for a core, and the model fits badly",
      m.ranks_of_host, m.cores_of_host, m.cores_of_host == 1 ? "" : "s");
}

std::string as_text(const measure_report& r) {
  std::string text = fmt::format("{}\n{} measurements in {:.0f} s, median spread {:.0f} %\n", r.about,
                                 r.measured.measurements, r.seconds, 100 * r.measured.spread);
  std::string_view place;
  for (const residual& one : r.residuals) {
    if (place_of(one) != place) {
      place = place_of(one);
      text +=
          fmt::format("\n{:<42}{:>9}{:>14}{:>14}{:>9}\n", place, "bytes", "measured", "predicted", "error");
    }
    text += fmt::format("  {:<40}{:>9}{:>14}{:>14}{:>+7.0f} %\n", one.what, size_name(one.bytes),
                        time_text(one.measured), time_text(one.predicted), 100 * one.error());
  }
  return text + fmt::format("\nerror of the patterns: {}; of the collectives: {}\n", summary_of(r, false),
                            summary_of(r, true));
}

std::string as_json(const measure_report& r, const std::string& machine) {
  json all = {{"engine", r.engine},
              {"ranks", r.measured.times.job.ranks},
              {"nodes", r.measured.times.job.nodes()},
              {"seconds", r.seconds},
              {"measurements", r.measured.measurements},
              {"spread", r.measured.spread},
              {"ranks_of_host", r.measured.ranks_of_host},
              {"cores_of_host", r.measured.cores_of_host},
              {"bursts", json::array()},
              {"patterns", json::array()},
              {"collectives", json::array()},
              {"errors", {{"patterns", summary_json(r, false)}, {"collectives", summary_json(r, true)}}},
              {"machine", json::parse(machine)}};
  if (!r.mpi.empty()) all["mpi"] = r.mpi;
  const tuning::path_measurements& within = r.measured.times.within_node;
  const tuning::path_measurements& between = r.measured.times.between_nodes;
  for (const auto* path : {&within, &between})
    for (const tuning::burst_time& b : path->bursts)
      all["bursts"].push_back({{"between_nodes", path == &between},
                               {"messages", b.messages},
                               {"send", b.send},
                               {"receive", b.receive}});
  for (const residual& one : r.residuals) {
    json line = {{"name", one.what}, {"bytes", one.bytes}};
    if (!one.is_collective && !one.is_local) line["between_nodes"] = one.between_nodes;
    line["measured"] = one.measured;
    line["predicted"] = one.predicted;
    line["error"] = one.error();
    all[one.is_collective ? "collectives" : "patterns"].push_back(std::move(line));
  }
  return all.dump(1);
}

}  // namespace tutti::tool
