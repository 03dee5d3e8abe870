// SPDX-License-Identifier: Apache-2.0
#include "simulation_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using simulation::path_step;

struct spread {
  double min = 0, median = 0, max = 0;
};

spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values.front(), values[values.size() / 2], values.back()};
}

std::string bytes_text(double bytes) {
  if (bytes >= 1e9) return fmt::format("{:.2f} GB", bytes / 1e9);
  if (bytes >= 1e6) return fmt::format("{:.2f} MB", bytes / 1e6);
  if (bytes >= 1e4) return fmt::format("{:.1f} kB", bytes / 1e3);
  return fmt::format("{:.0f} B", bytes);
}

std::string line_of(const path_step& s) {
  const std::string what = s.to < 0 ? fmt::format("rank {}, round {}", s.rank, s.round)
                                    : fmt::format("message {} -> {}, {} B", s.rank, s.to, s.bytes);
  return fmt::format("  {:>12} {:>12}  {}\n", time_text(s.begin), time_text(s.end - s.begin), what);
}

// The mean, the minimum and the maximum. Also each rank, if there are few or the user wants all.
std::string waiting_text(const simulation_report& r) {
  const std::vector<double>& waits = r.result.waits;
  const double mean = std::accumulate(waits.begin(), waits.end(), 0.0) / static_cast<double>(waits.size());
  const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
  std::string text =
      fmt::format("waiting       mean {}, most {} on rank {}, least {} on rank {}\n", time_text(mean),
                  time_text(*most), most - waits.begin(), time_text(*least), least - waits.begin());
  constexpr std::size_t few = 16;
  if (waits.size() > few && !r.everything) return text;
  text += "waiting of each rank, and its part of the time until the rank is done\n";
  for (std::size_t rank = 0; rank < waits.size(); ++rank) {
    const double end = r.result.ends[rank];
    text += fmt::format("  rank {:<7} {:>12} {:>4.0f} %\n", rank, time_text(waits[rank]),
                        end > 0 ? 100 * waits[rank] / end : 0.0);
  }
  return text;
}

}  // namespace

std::string time_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.4f} s", seconds);
  if (seconds >= 1e-2) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

std::string as_text(const simulation_report& r) {
  const auto& s = r.result;
  std::string text = fmt::format("{} of {} ranks on {}", r.name, r.ranks, r.machine);
  if (r.what != collective::barrier) text += fmt::format(", {} bytes", r.bytes);
  if (is_rooted(r.what)) text += fmt::format(", root {}", r.root);
  if (r.in_place) text += ", in place";
  text += "\n";
  if (!r.about.empty()) text += fmt::format("machine       {}\n", r.about);
  if (!r.chosen_by.empty()) text += fmt::format("chosen by     {}\n", r.chosen_by);
  text += fmt::format("time          {}\n", time_text(s.seconds));
  if (s.simulated_ranks == 1 && r.ranks > 1)
    text += "simulated     one rank, because all behave alike\n";
  else if (s.simulated_ranks < r.ranks)
    text += fmt::format("simulated     the {} ranks of one node, because all nodes behave alike\n",
                        s.simulated_ranks);
  text += fmt::format("messages      {}, {}\n", s.messages, bytes_text(static_cast<double>(s.bytes)));
  text += s.any_link ? fmt::format("busiest link  {}: {}, {:.0f} % of the time\n", r.busiest_link,
                                   bytes_text(s.busiest_bytes), 100 * s.busiest_share)
                     : "busiest link  none: no message crosses a shared link\n";
  text += waiting_text(r);
  if (!s.recorded) return text + "critical path not recorded, because there are too many messages\n";
  const std::vector<path_step> path = s.critical_path();
  text += "critical path, from the time on the left, for the time beside it\n";
  constexpr std::size_t shown = 12;  // at both ends
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (!r.everything && path.size() > 2 * shown + 1 && i == shown) {
      text += fmt::format("  ... {} more; --all shows them\n", path.size() - 2 * shown);
      i = path.size() - shown;
    }
    text += line_of(path[i]);
  }
  return text;
}

std::string as_json(const simulation_report& r) {
  const auto& s = r.result;
  json all;
  all["name"] = r.name;
  all["machine"] = r.machine;
  if (!r.like.empty()) all["like"] = r.like;
  all["ranks"] = r.ranks;
  all["bytes"] = r.bytes;
  if (is_rooted(r.what)) all["root"] = r.root;
  all["in_place"] = r.in_place;
  all["seconds"] = s.seconds;
  all["simulated_ranks"] = s.simulated_ranks;
  all["messages"] = s.messages;
  all["message_bytes"] = s.bytes;
  if (s.any_link)
    all["busiest_link"] = {{"name", r.busiest_link}, {"bytes", s.busiest_bytes}, {"share", s.busiest_share}};
  const spread waits = spread_of(s.waits);
  all["waiting"] = {{"min", waits.min}, {"median", waits.median}, {"max", waits.max}, {"ranks", s.waits}};
  all["ends"] = s.ends;
  if (s.recorded) {
    json& path = all["critical_path"] = json::array();
    for (const path_step& one : s.critical_path()) {
      json step{{"rank", one.rank}, {"round", one.round}};
      if (one.to >= 0) {
        step["to"] = one.to;
        step["bytes"] = one.bytes;
      }
      step["begin"] = one.begin;
      step["end"] = one.end;
      path.push_back(std::move(step));
    }
  }
  // A file name may contain invalid UTF-8, so dump() replaces such bytes.
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tool
