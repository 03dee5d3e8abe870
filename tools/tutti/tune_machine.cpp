// SPDX-License-Identifier: Apache-2.0
//
// tutti tune --machine: trees for a machine that is not at hand. The times of all choices are
// simulated (tuning/simulated_campaign.hpp).
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <unordered_map>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/report_text.hpp"
#include "machine_argument.hpp"
#include "output_file.hpp"
#include "progress_bar.hpp"
#include "selection/suggestion.hpp"
#include "selection/tree.hpp"
#include "subcommands.hpp"
#include "tune_options.hpp"
#include "tuning/candidates.hpp"
#include "tuning/simulated_campaign.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

using namespace tutti::detail;
using steady = std::chrono::steady_clock;
using json = nlohmann::ordered_json;

// Midpoints between powers of two cost much where there are many ranks.
constexpr int max_midpoint = 128;

int read_rank(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < min_tuned_ranks ||
      value > max_tuned_ranks)
    throw called_wrongly{
        fmt::format("--ranks is a number from {} to {}, a list such as 16,48, or a range such "
                    "as 2..1024; {} is none of them",
                    min_tuned_ranks, max_tuned_ranks, detail::quoted(text))};
  return value;
}

std::vector<int> read_ranks(const std::string& text, bool quick) {
  if (text.empty()) throw called_wrongly{"--machine needs --ranks, such as 64 or 2..1024"};
  if (const auto dots = text.find(".."); dots != text.npos) {
    const int first = read_rank(std::string_view(text).substr(0, dots)),
              last = read_rank(std::string_view(text).substr(dots + 2));
    if (first > last) throw called_wrongly{fmt::format("--ranks is {}, which contains no number", text)};
    std::vector<int> all = numbers_of_ranks(last, quick);
    std::erase_if(all, [&](int p) {
      const bool power = (p & (p - 1)) == 0;
      return p < first || (!power && p > max_midpoint && p != last);
    });
    if (all.empty() || all.front() != first) all.insert(all.begin(), first);
    return all;
  }
  std::vector<int> all;
  std::istringstream list(text);
  for (std::string one; std::getline(list, one, ',');) all.push_back(read_rank(one));
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void reject_options_of_measurements(const tune_options& w) {
  const auto reject = [](bool given, const char* option) {
    if (given)
      throw called_wrongly{fmt::format("{} does not go with --machine, which measures nothing", option)};
  };
  reject(!w.engine.empty(), "--engine");
  reject(!w.budget.empty(), "--budget");
  reject(!w.onto.empty(), "--onto");
  reject(w.only, "--only");
  for (const std::string& name : w.collectives)
    if (std::find(collective_names.begin(), collective_names.end(), name) == collective_names.end())
      throw called_wrongly{"there is no collective " + tutti::detail::quoted(name) + "; " +
                           suggest(name, collective_names)};
}

// The times of an interrupted run, in a file beside the output. Its first line identifies what was
// simulated. The file is removed when the trees are written.
class times_file {
 public:
  times_file(const std::filesystem::path& output, const std::string& identity) {
    if (output.empty()) return;
    path_ = output;
    path_ += ".times";
    const std::string header =
        fmt::format("tutti times {} {:016x}", TUTTI_VERSION, std::hash<std::string>{}(identity));
    std::ifstream former(path_);
    std::string line;
    const bool same = std::getline(former, line) && line == header;
    while (same && std::getline(former, line)) {
      const auto tab = line.find('\t');
      double seconds = 0;
      if (tab == line.npos) continue;
      const char* const end = line.data() + line.size();
      const auto read = std::from_chars(line.data() + tab + 1, end, seconds);
      // The last line may be incomplete.
      if (read.ec == std::errc{} && read.ptr != end && *read.ptr == ';')
        known_[line.substr(0, tab)] = seconds;
    }
    former.close();
    out_.open(path_, same ? std::ios::app : std::ios::trunc);
    if (!out_) throw called_wrongly{echoed(path_.string()) + " cannot be written"};
    if (!same) out_ << header << "\n";
    out_ << "\n";
  }
  std::size_t size() const noexcept { return known_.size(); }
  std::optional<double> find(const std::string& key) const {
    const auto at = known_.find(key);
    return at == known_.end() ? std::nullopt : std::optional<double>(at->second);
  }
  void add(const std::string& key, double seconds) {
    if (out_.is_open()) out_ << key << '\t' << fmt::format("{};\n", seconds) << std::flush;
  }
  void remove() {
    out_.close();
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove(path_, ignored);
  }

 private:
  std::filesystem::path path_;
  std::ofstream out_;
  std::unordered_map<std::string, double> known_;
};

std::string joined_names(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : ",") + one;
  return text;
}

std::map<std::string, std::string> description(const tune_options& w, const std::vector<int>& ranks) {
  std::map<std::string, std::string> all;
  std::string command =
      fmt::format("tutti tune --machine {} --ranks {}", joined_names(w.machines), w.rank_list);
  if (w.quick) command += " --quick";
  if (!w.collectives.empty()) command += " --collectives " + joined_names(w.collectives);
  if (!w.natives.empty()) command += " --native " + joined_names(w.natives);
  for (std::size_t i = 0; i < w.sizes.size(); ++i)
    command += fmt::format("{}{}", i == 0 ? " --sizes " : ",", w.sizes[i]);
  if (w.gain_given) command += fmt::format(" --gain {}", w.gain);
  all["command"] = command;
  all["simulated"] = joined_names(w.machines);
  for (const int p : ranks) all["ranks"] += (all["ranks"].empty() ? "" : ",") + std::to_string(p);
  return all;
}

std::string ranks_left_out(const tuning::simulated_result& r, std::size_t machine) {
  std::string text;
  for (const auto& [m, p] : r.left_out)
    if (m == machine) text += (text.empty() ? "" : ", ") + std::to_string(p);
  return text;
}

// The gain of each collective: the mean is over all calls that were simulated, also those whose
// choice did not change.
std::string as_text(const tune_options& w, const tuning::simulated_result& r, double seconds) {
  std::string text = fmt::format(
      "{} simulations in {:.0f} s{}; skipped: {} that their claims predict to be slow, {} with too many "
      "messages\n",
      r.simulated, seconds, r.known == 0 ? "" : fmt::format(", {} from an interrupted run", r.known),
      r.pruned, r.too_long);
  for (std::size_t m = 0; m < w.machines.size(); ++m)
    if (const std::string ranks = ranks_left_out(r, m); !ranks.empty())
      text += fmt::format("not simulated on {}: {} ranks, which do not fill whole nodes or sockets\n",
                          w.machines[m], ranks);
  struct sum {
    std::size_t cells = 0, changed = 0;
    double log_gain = 0, best = 1;
  };
  std::map<collective, sum> all;
  for (const tuning::cell& c : r.cells) ++all[c.context.call.what].cells;
  for (std::size_t i = 0; i + r.changes_over_native < r.trees.changes.size(); ++i) {
    const tuning::change& c = r.trees.changes[i];
    if (c.half != tree_half::pure || c.before_us <= 0) continue;
    sum& s = all[c.what];
    ++s.changed;
    s.log_gain += std::log(c.before_us / c.after_us);
    s.best = std::max(s.best, c.before_us / c.after_us);
  }
  text += fmt::format("\n{:<22}{:>7}{:>9}{:>12}{:>12}\n", "collective", "calls", "changed", "mean gain",
                      "best gain");
  for (const auto& [what, s] : all)
    text +=
        fmt::format("{:<22}{:>7}{:>9}{:>12.2f}{:>12.2f}\n", name_of(what), s.cells, s.changed,
                    std::exp(s.log_gain / static_cast<double>(std::max<std::size_t>(1, s.cells))), s.best);
  return text +
         "A gain of 2 means half the time, over the choice of the trees `common` without native "
         "collectives.\n";
}

json choices(const std::vector<tuning::timing>& all) {
  json list = json::array();
  for (const tuning::timing& t : all) list.push_back({{"name", tuning::label(t.use)}, {"us", t.us}});
  return list;
}

std::string as_json(const tune_options& w, const tuning::simulated_result& r, double seconds,
                    const std::string& document) {
  json all = {{"machines", w.machines}, {"seconds", seconds},       {"simulated", r.simulated},
              {"known", r.known},       {"pruned", r.pruned},       {"too_long", r.too_long},
              {"cells", json::array()}, {"changes", json::array()}, {"left_out", json::array()}};
  for (std::size_t i = 0; i < r.cells.size(); ++i) {
    const tuning::cell& c = r.cells[i];
    json one = {{"machine", w.machines[r.origins[i].machine]},
                {"collective", name_of(c.context.call.what)},
                {"ranks", c.context.call.ranks},
                {"nodes", c.context.nodes},
                {"bytes", c.size},
                {"pure", choices(c.pure)}};
    if (!c.composed.empty()) one["composition"] = choices(c.composed);
    if (std::isfinite(r.origins[i].native_us)) one["native_us"] = r.origins[i].native_us;
    all["cells"].push_back(std::move(one));
  }
  for (std::size_t i = 0; i < r.trees.changes.size(); ++i) {
    const tuning::change& c = r.trees.changes[i];
    const bool over_native = i + r.changes_over_native >= r.trees.changes.size();
    all["changes"].push_back({{"collective", name_of(c.what)},
                              {"native", over_native},
                              {"tree", c.half == tree_half::pure ? "pure" : "composition"},
                              {"ranks", c.ranks},
                              {"nodes", c.nodes},
                              {"bytes", c.size},
                              {"now", tuning::label(c.before)},
                              {"tuned", tuning::label(c.after)},
                              {"us_now", c.before_us},
                              {"us_tuned", c.after_us}});
  }
  for (const auto& [m, p] : r.left_out) all["left_out"].push_back({{"machine", w.machines[m]}, {"ranks", p}});
  all["document"] = json::parse(document);
  return all.dump(1);
}

std::vector<std::size_t> sizes_of(const tune_options& w) {
  if (w.sizes.empty())
    return w.quick ? std::vector<std::size_t>{8, 1024, 32768, 1048576}
                   : std::vector<std::size_t>{8, 128, 1024, 8192, 32768, 131072, 1048576, 4194304, 16777216};
  std::vector<std::size_t> sizes = w.sizes;
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

// The MPIs over which choices must be faster than the native collectives.
std::vector<tuning::peer_mpi> natives_of(const tune_options& w) {
  if (w.natives.empty()) return {tuning::peer_mpi::open_mpi, tuning::peer_mpi::mpich};
  std::vector<tuning::peer_mpi> all;
  for (const std::string& name : w.natives) {
    const auto found = tuning::find_peer_mpi(name);
    if (!found)
      throw called_wrongly{fmt::format("the choices of an MPI {} are not known; {}",
                                       tutti::detail::quoted(name), suggest(name, tuning::peer_mpi_names()))};
    if (std::find(all.begin(), all.end(), *found) == all.end()) all.push_back(*found);
  }
  return all;
}

// `identity` receives the texts of the machines and the command. The times of compositions depend
// on all of it, because the trees for all pure algorithms choose their inner calls.
tuning::simulated_options read_options(const tune_options& w, std::string& identity) {
  tuning::simulated_options options;
  options.ranks = read_ranks(w.rank_list, w.quick);
  for (const std::string& name : w.machines) {
    machine_argument m = read_machine_argument(name);
    identity += name + "\n" + m.text + "\n";
    options.machines.push_back({name, std::move(m.made)});
  }
  for (std::size_t i = 1; i < w.machines.size(); ++i)
    if (std::find(w.machines.begin(), w.machines.begin() + static_cast<std::ptrdiff_t>(i), w.machines[i]) !=
        w.machines.begin() + static_cast<std::ptrdiff_t>(i))
      throw called_wrongly{fmt::format("--machine names {} twice", echoed(w.machines[i]))};
  for (const int p : options.ranks)
    for (const tuning::simulated_machine& m : options.machines)
      if (const auto most = m.model.max_nodes() * m.model.ranks_per_node; most != 0 && p > most)
        throw called_wrongly{fmt::format("{} has {} ranks; --ranks asks for {}", m.name, most, p)};
  options.collectives = tuned_collectives(w);
  options.sizes = sizes_of(w);
  options.parameters = !w.quick;
  options.natives = natives_of(w);
  options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (w.gain_given) options.gain = options.gain_over_native = w.gain / 100;
  identity += description(w, options.ranks)["command"];
  // What the times depend on and a new build may change.
  for (const char* trees : {"common", "peers/open_mpi", "peers/mpich"}) identity += builtin_tree(trees);
  for (const pure_algorithm* a : catalogue())
    identity += std::string(a->name) + std::string(a->rounds) + std::string(a->bytes);
  return options;
}

// Writes the trees to their file or to standard output, and the report to the other stream.
void write_results(const tune_options& w, const tuning::simulated_result& r, double seconds,
                   const std::filesystem::path& place, const std::string& trees) {
  if (!place.empty()) write_atomically(place, trees);
  const std::string report = as_text(w, r, seconds);
  if (w.as_json) {
    fmt::print("{}\n", as_json(w, r, seconds, trees));
  } else if (place.empty()) {
    fmt::print(stderr, "{}", report);
    fmt::print("{}", trees);
  } else {
    fmt::print("{}\n{} is written\n", report, place.string());
  }
}

}  // namespace

int tune_machines(const tune_options& w) {
  reject_options_of_measurements(w);
  std::string identity;
  const tuning::simulated_options options = read_options(w, identity);
  const std::filesystem::path place = w.output.empty() ? "" : output_path(w.output, "tuned");
  times_file times(place, identity);
  if (times.size() != 0)
    fmt::print(stderr, "tutti tune: {} times are known from an interrupted run\n", times.size());
  progress_bar progress;
  const auto start = steady::now();
  // Trees without an engine of their own: those of the MPI engine have conditions of one node.
  const document base = builtin_document("common");
  tuning::simulated_result r;
  try {
    r = tuning::run_simulated_campaign(
        base, options,
        {[&](const std::string& key) { return times.find(key); },
         [&](const std::string& key, double seconds) { times.add(key, seconds); }},
        [&](const std::string& what, double part) { progress.show(what, part); });
  } catch (const std::length_error& e) {
    progress.end();
    throw called_wrongly{e.what()};
  }
  progress.end();
  document& made = r.trees.made;
  if (const std::string faults = tuning::faults_of(base, made); !faults.empty()) {
    fmt::print(stderr, "tutti tune: the generated trees are invalid and are not written:\n{}", faults);
    return 1;
  }
  made.machine = description(w, options.ranks);
  write_results(w, r, std::chrono::duration<double>(steady::now() - start).count(), place, write_tree(made));
  times.remove();
  return 0;
}

}  // namespace tutti::tool
