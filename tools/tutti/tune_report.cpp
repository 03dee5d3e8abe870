// SPDX-License-Identifier: Apache-2.0
#include "tune_report.hpp"

#include <set>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "tune_protocol.hpp"
#include "tuning/candidates.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

std::string size_name(std::size_t bytes) {
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

std::string us(double x) { return x < 9.995 ? fmt::format("{:.2f}", x) : fmt::format("{:.1f}", x); }

json choices(const std::vector<tuning::timing>& all) {
  json list = json::array();
  for (const tuning::timing& t : all)
    list.push_back({{"name", tuning::label(t.use)},
                    {"us", t.us},
                    {"spread", t.spread},
                    {"measurements", t.measurements},
                    {"min_us", t.min_us},
                    {"median_us", t.median_us},
                    {"iqr", t.iqr}});
  return list;
}

tuning::measured_protocol protocol_of(const tuned& t) {
  tuning::measured_protocol all;
  for (std::size_t i = 0; i < t.protocols.size(); ++i)
    all = i == 0 ? t.protocols[0] : joined(all, t.protocols[i]);
  return all;
}

// Of all times that were measured more than once.
double median_iqr(const tuned& t) {
  std::vector<double> all;
  for (const tuning::campaign_result& c : t.campaigns)
    for (const tuning::cell& one : c.cells)
      for (const auto* half : {&one.pure, &one.composed})
        for (const tuning::timing& time : *half)
          if (time.measurements > 1) all.push_back(time.iqr);
  return tuning::median(all);
}

std::string unclear_text(const tuned& t) {
  std::size_t cells = 0, repeated = 0, unclear = 0;
  for (const tuning::campaign_result& c : t.campaigns) {
    cells += c.cells.size();
    repeated += c.repeated;
    unclear += c.unclear;
  }
  return fmt::format(
      "{} calls; {} were measured again; in {} a choice stays unclear and is kept; median spread {:.1f} %\n",
      cells, repeated, unclear, 100 * median_iqr(t));
}

std::string changes_text(const tuned& t) {
  if (t.result.changes.empty())
    return "\nNo algorithm is faster than the current choice, beyond the noise.\n";
  constexpr const char* row = "{:<22}{:>5} {:>8}   {:<28}{:<28}{:>9}{:>6}{:>10}{:>6}{:>7}\n";
  const auto percent = [](double x) { return fmt::format("{:.0f} %", 100 * x); };
  std::string text = "\n" + fmt::format(fmt::runtime(row), "collective", "ranks", "size", "now", "tuned",
                                        "us now", "iqr", "us tuned", "iqr", "ratio");
  for (const tuning::change& c : t.result.changes)
    text += fmt::format(fmt::runtime(row), name_of(c.what), c.ranks,
                        c.what == collective::barrier ? "" : size_name(c.size), tuning::label(c.before),
                        tuning::label(c.after), us(c.before_us), percent(c.before_iqr), us(c.after_us),
                        percent(c.after_iqr),
                        c.before_us > 0 ? fmt::format("{:.2f}", c.after_us / c.before_us) : "");
  return text +
         "iqr: interquartile range of the measurements; ratio: the median of those that were taken in turn\n";
}

}  // namespace

std::string as_text(const tuned& t) {
  std::string text;
  std::size_t measurements = 0, pruned = 0, left_out = 0;
  std::string ranks;
  for (const tuning::campaign_result& c : t.campaigns) {
    measurements += c.measurements;
    pruned += c.pruned;
    left_out += c.left_out;
    ranks += (ranks.empty() ? "" : ", ") + std::to_string(c.ranks);
  }
  text += fmt::format(
      "{} with {} ranks: {} measurements in {:.0f} s; skipped: {} that the model predicts to be slow, {} for "
      "lack of time\n",
      t.engine, ranks, measurements, t.seconds, pruned, left_out);
  text += fmt::format("  compared with the built-in trees {}\n", t.trees);
  for (const tuning::campaign_result& c : t.campaigns)
    text += fmt::format("  {} ranks: a message takes {} us and {:.3g} us for each KiB\n", c.ranks,
                        us(c.machine.alpha), c.machine.beta * 1024);
  text += text_of(protocol_of(t)) + unclear_text(t) + changes_text(t);
  if (t.guideline_ranks > 0) {
    text += fmt::format("\nPerformance guidelines, {} ranks, {}'s own collectives: {}\n", t.guideline_ranks,
                        t.engine, t.violations.empty() ? "all hold" : "these do not hold");
    for (const tuning::violation& v : t.violations)
      text += fmt::format("  {:<44}{:>9}   {:>8} > {:<8} us, {:.2f} times\n", v.rule, size_name(v.bytes),
                          us(v.left_us), us(v.right_us), v.ratio());
  }
  std::set<std::string> wrong;
  for (const tuning::campaign_result& c : t.campaigns)
    wrong.insert(c.wrong_names.begin(), c.wrong_names.end());
  for (const std::string& name : wrong) text += fmt::format("\n{} gave a wrong result\n", name);
  for (const auto& [about, warning] : t.warnings) text += fmt::format("\nwarning: {}\n", warning);
  return text;
}

std::string as_json(const tuned& t, const std::string& document) {
  json all;
  all["engine"] = t.engine;
  all["trees"] = t.trees;
  all["seconds"] = t.seconds;
  all["protocol"] = json_of(protocol_of(t));
  all["warnings"] = json::array();
  for (const auto& [about, text] : t.warnings) all["warnings"].push_back({{"about", about}, {"text", text}});
  all["campaigns"] = json::array();
  all["changes"] = json::array();
  all["guidelines"] = {
      {"ranks", t.guideline_ranks}, {"rules", tuning::guidelines()}, {"violated", json::array()}};
  all["cells"] = json::array();
  for (const tuning::campaign_result& c : t.campaigns) {
    all["campaigns"].push_back({{"ranks", c.ranks},
                                {"measurements", c.measurements},
                                {"pruned", c.pruned},
                                {"left_out", c.left_out},
                                {"repeated", c.repeated},
                                {"unclear", c.unclear},
                                {"wrong_results", c.wrong_names},
                                {"alpha_us", c.machine.alpha},
                                {"beta_us_per_byte", c.machine.beta}});
    for (const tuning::cell& one : c.cells) {
      json cell = {{"collective", name_of(one.context.call.what)},
                   {"ranks", c.ranks},
                   {"bytes", one.size},
                   {"unclear", one.is_unclear},
                   {"pure", choices(one.pure)}};
      if (!one.composed.empty()) cell["composition"] = choices(one.composed);
      all["cells"].push_back(std::move(cell));
    }
  }
  for (const tuning::change& c : t.result.changes)
    all["changes"].push_back({{"collective", name_of(c.what)},
                              {"tree", c.half == tree_half::pure ? "pure" : "composition"},
                              {"ranks", c.ranks},
                              {"bytes", c.size},
                              {"now", tuning::label(c.before)},
                              {"tuned", tuning::label(c.after)},
                              {"us_now", c.before_us},
                              {"us_tuned", c.after_us},
                              {"iqr_now", c.before_iqr},
                              {"iqr_tuned", c.after_iqr}});
  for (const tuning::violation& v : t.violations)
    all["guidelines"]["violated"].push_back({{"rule", v.rule},
                                             {"bytes", v.bytes},
                                             {"left_us", v.left_us},
                                             {"right_us", v.right_us},
                                             {"ratio", v.ratio()}});
  all["document"] = json::parse(document);
  return all.dump(1);
}

}  // namespace tutti::tool
