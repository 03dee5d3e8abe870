// SPDX-License-Identifier: Apache-2.0
#include "compare/compared_results.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>
#include <stdexcept>

#include <fmt/core.h>

#include "figures.hpp"
#include "tuning/machine.hpp"

namespace bench {
namespace {

std::string ratio(double theirs, double ours) { return theirs > 999 * ours ? ">999" : number(theirs / ours); }

const std::vector<std::string> natives{"native_openmpi", "native_mpich"};

}  // namespace

const std::vector<engine>& engines() {
  static const std::vector<engine> all{
      {"threads", "tutti, threads", family::embedded, "tutti_side", ""},
      {"fibers", "tutti, fibers", family::embedded, "tutti_side", ""},
      {"tutti_openmpi", "tutti over Open MPI", family::over_mpi, "tutti_side", "mpirun.openmpi"},
      {"tutti_mpich", "tutti over MPICH", family::over_mpi, "tutti_side", "mpirun.mpich"},
      {"native_openmpi", "Open MPI", family::native, "native_openmpi", "mpirun.openmpi"},
      {"native_mpich", "MPICH", family::native, "native_mpich", "mpirun.mpich"},
  };
  return all;
}

const engine& engine_of(const std::string& name) {
  for (const auto& e : engines()) {
    if (e.name == name) return e;
  }
  throw std::invalid_argument("there is no engine " + name);
}

std::string default_engine(int ranks, int cores) { return ranks <= cores ? "threads" : "fibers"; }

bool waits_for_scheduler(const engine& e, int ranks, int cores) {
  return e.launcher == "mpirun.mpich" && ranks > cores;
}

void results::add(const copy_speeds& speeds) {
  if (speeds_.entries.empty()) speeds_ = speeds;
  for (std::size_t i = 0; i < speeds_.entries.size() && i < speeds.entries.size(); ++i) {
    auto& max_speed = speeds_.entries[i].gb_per_s;
    max_speed = std::max(max_speed, speeds.entries[i].gb_per_s);
  }
}

bool results::empty() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const attempt& r) { return r.figures.empty(); });
}

// --- which runs may be compared

void results::add(attempt r) {
  runs_.push_back(std::move(r));
  find_distances();
  find_common();
}

// A few distances differ clearly, with some noise around each. They are those of two threads of a
// core, and of two cores with or without a common cache.
void results::find_distances() {
  std::vector<double> trips;
  for (const auto& r : runs_) trips.insert(trips.end(), {r.trip_before, r.trip_after});
  std::sort(trips.begin(), trips.end());
  double level = 0;
  std::map<double, double> level_of;
  for (const double trip : trips) {
    if (trip > 1.6 * level) level = trip;
    level_of[trip] = level;
  }
  for (auto& r : runs_) {
    r.distance.reset();
    if (level_of[r.trip_before] == level_of[r.trip_after]) r.distance = level_of[r.trip_before];
  }
}

void results::find_common() {
  std::map<int, std::map<double, std::set<std::string>>> engines_of;
  for (const auto& r : runs_) {
    if (r.figures.empty() || !r.distance || waits_for_scheduler(engine_of(r.engine), r.ranks, cores_))
      continue;
    engines_of[r.ranks][*r.distance].insert(r.engine);
  }
  common_.clear();
  for (const auto& [ranks, distances] : engines_of) {
    std::size_t max_engines = 0;
    for (const auto& [where, names] : distances) {
      if (names.size() <= max_engines) continue;  // prefers the nearest of several
      max_engines = names.size();
      common_[ranks] = where;
    }
  }
}

std::vector<std::string> results::engines_at(int ranks) const {
  std::vector<std::string> found;
  for (const auto& e : engines()) {
    const auto has = [&](const attempt& r) {
      return r.ranks == ranks && r.engine == e.name && !r.figures.empty();
    };
    if (std::any_of(runs_.begin(), runs_.end(), has)) found.push_back(e.name);
  }
  return found;
}

std::optional<double> results::common(int ranks) const {
  const auto found = common_.find(ranks);
  return found == common_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> results::missing(int ranks) const {
  const auto common_distance = common(ranks);
  std::vector<std::string> result;
  for (const auto& name : engines_at(ranks)) {
    // Such runs measure only the scheduler.
    if (waits_for_scheduler(engine_of(name), ranks, cores_)) continue;
    const auto has = [&](const attempt& r) {
      return r.ranks == ranks && r.engine == name && !r.figures.empty() && common_distance &&
             r.distance == *common_distance;
    };
    if (std::none_of(runs_.begin(), runs_.end(), has)) result.push_back(name);
  }
  return result;
}

bool results::is_comparable(const attempt& r) const {
  if (waits_for_scheduler(engine_of(r.engine), r.ranks, cores_)) return true;
  const auto common_distance = common(r.ranks);
  return !common_distance || r.distance == common_distance;
}

std::optional<results::best> results::best_of(int ranks, const std::string& engine,
                                              const case_key& which) const {
  best result;
  double worst = 0;
  for (const auto& r : runs_) {
    if (r.ranks != ranks || r.engine != engine || !is_comparable(r)) continue;
    const auto found = r.figures.find(which);
    if (found == r.figures.end()) continue;
    const auto& f = found->second;
    if (result.runs++ == 0 || f.us < result.us) {
      result.us = f.us;
      result.algorithm = f.algorithm;
      result.spread = f.noise;
    }
    worst = std::max(worst, f.us);
  }
  if (result.runs == 0) return std::nullopt;
  if (result.runs > 1 && result.us > 0) result.spread = worst / result.us - 1;
  return result;
}

// --- tables

// The rows of one engine of tutti beside the native ones, or of the native ones alone.
std::string results::rows(int ranks, const options& o, const std::optional<std::string>& tutti) const {
  std::string heads = fmt::format("{:<21}", "");
  std::string units = fmt::format("{:<21}", "");
  for (const std::size_t bytes : o.sizes) {
    heads += tutti ? fmt::format("{:>22}", size_name(bytes)) : fmt::format("{:>19}", size_name(bytes));
    units += tutti ? fmt::format("{:>9}{:>7}{:>6}", "us", "OMPI", "MPICH")
                   : fmt::format("{:>11}{:>8}", "OMPI", "MPICH");
  }
  std::string text = heads + "\n" + units + "\n";
  for (const auto& collective : o.collectives) {
    text += fmt::format("{:<21}", collective);
    for (const std::size_t bytes : o.sizes) {
      const case_key key{collective, collective == "barrier" ? 0 : bytes};
      const auto ours = tutti ? best_of(ranks, *tutti, key) : std::nullopt;
      if (tutti) text += fmt::format("{:>9}", ours ? number(ours->us) : "-");
      for (std::size_t i = 0; i < natives.size(); ++i) {
        const auto theirs = best_of(ranks, natives[i], key);
        std::string cell = "-";
        if (!tutti && theirs) cell = number(theirs->us);
        if (ours && theirs && ours->us > 0) cell = ratio(theirs->us, ours->us);
        text += fmt::format("{:>{}}", cell, tutti ? (i == 0 ? 7 : 6) : (i == 0 ? 11 : 8));
      }
      if (collective == "barrier") break;  // it has no size
    }
    text += "\n";
  }
  return text;
}

std::optional<results::summary> results::summary_of(int ranks, const std::string& engine,
                                                    const std::string& native) const {
  std::set<case_key> cases;
  for (const auto& r : runs_) {
    if (r.ranks != ranks || r.engine != engine) continue;
    for (const auto& [key, f] : r.figures) cases.insert(key);
  }
  summary s;
  double logarithms = 0;
  for (const auto& key : cases) {
    const auto ours = best_of(ranks, engine, key);
    const auto theirs = best_of(ranks, native, key);
    if (!ours || !theirs || ours->us <= 0 || theirs->us <= 0) continue;
    const double multiple = theirs->us / ours->us;
    logarithms += std::log(multiple);
    if (s.cells++ == 0 || multiple < s.lowest) {
      s.lowest = multiple;
      s.lowest_at = key;
    }
  }
  if (s.cells == 0) return std::nullopt;
  s.geomean = std::exp(logarithms / static_cast<double>(s.cells));
  return s;
}

void results::print_summary(int ranks, const std::string& engine) const {
  for (const auto& native : natives) {
    const auto s = summary_of(ranks, engine, native);
    if (!s) continue;
    fmt::print("{}: geometric mean {:.2f} over {} cells; lowest {:.2f}, {}\n", engine_of(native).title,
               s->geomean, s->cells, s->lowest,
               s->lowest_at.bytes == 0
                   ? s->lowest_at.collective
                   : fmt::format("{} of {}", s->lowest_at.collective, size_name(s->lowest_at.bytes)));
  }
}

// Prints the distance of the cores in the runs that count.
void results::print_distance(int ranks) const {
  const auto where = common(ranks);
  std::size_t counted = 0;
  std::size_t all = 0;
  double trip = std::numeric_limits<double>::infinity();
  for (const auto& r : runs_) {
    if (r.ranks != ranks || r.figures.empty()) continue;
    ++all;
    if (!is_comparable(r)) continue;
    ++counted;
    if (!where || r.distance == *where) trip = std::min({trip, r.trip_before, r.trip_after});
  }
  fmt::print("round trip of a cache line between two cores: {:.0f} ns", trip);
  if (counted < all)
    fmt::print("; {} of {} runs, in which this time differed or changed, do not count", all - counted, all);
  fmt::print("\n");
}

void results::print(const options& o, const std::vector<int>& ranks) const {
  for (const int p : ranks) {
    const auto present = engines_at(p);
    if (present.empty()) {
      fmt::print("\np = {}: nothing was measured\n", p);
      continue;
    }
    fmt::print("\n=== p = {} {:=<100}\n", p, "");
    if (cores_ > 1) print_distance(p);
    for (const auto& name : missing(p)) {
      fmt::print(
          "{}: no run with the same distance between the cores as for the others, so no figures; run it "
          "again\n",
          engine_of(name).title);
    }

    const std::string preferred = default_engine(p, cores_);
    std::vector<std::string> order{preferred};
    for (const auto& name : present) {
      if (name != preferred && engine_of(name).kind != family::native) order.push_back(name);
    }
    for (const auto& name : order) {
      if (std::find(present.begin(), present.end(), name) == present.end()) continue;
      fmt::print("\n{}{}: microseconds, and the time of the native collective as a multiple\n",
                 engine_of(name).title, name == preferred ? " (the default engine)" : "");
      fmt::print("{}", rows(p, o, name));
      print_summary(p, name);
    }
    const auto is_native = [](const std::string& name) { return engine_of(name).kind == family::native; };
    if (std::any_of(present.begin(), present.end(), is_native)) {
      fmt::print("\nnative collectives: microseconds\n{}", rows(p, o, std::nullopt));
    }
    if (p > cores_ && std::any_of(present.begin(), present.end(), [&](const std::string& name) {
          return waits_for_scheduler(engine_of(name), p, cores_);
        })) {
      fmt::print(
          "\nMPICH keeps a core while it waits; with more ranks than cores its figures are time slices of "
          "the scheduler,\nand better figures prove nothing. It is measured once there.\n");
    }
  }
  if (!speeds_.entries.empty()) {
    fmt::print("\ncopy bandwidth, which no collective that moves data can exceed:");
    for (const auto& entry : speeds_.entries) {
      fmt::print("{} {} on {} {:.1f} GB/s", &entry == speeds_.entries.data() ? "" : ",",
                 size_name(entry.bytes), entry.cores == 1 ? "one core" : fmt::format("{} cores", entry.cores),
                 entry.gb_per_s);
    }
    fmt::print("\n");
  }
}

// --- JSON

// The figure that counts, and its ratio to the native ones.
void results::add_best(nlohmann::ordered_json& entry, int ranks, const std::string& engine,
                       const case_key& which) const {
  const auto b = best_of(ranks, engine, which);
  if (!b) return;
  entry["real_time"] = b->us;
  entry["spread"] = b->spread;
  if (!b->algorithm.empty()) entry["algorithm"] = b->algorithm;
  if (engine_of(engine).kind == family::native || b->us <= 0) return;
  for (const auto& native : natives)
    if (const auto theirs = best_of(ranks, native, which)) entry[native + "_ratio"] = theirs->us / b->us;
}

void results::add_summaries(nlohmann::ordered_json& summaries, int ranks, const std::string& engine) const {
  if (engine_of(engine).kind == family::native) return;
  for (const auto& native : natives) {
    const auto s = summary_of(ranks, engine, native);
    if (!s) continue;
    summaries.push_back({{"engine", engine},
                         {"native", native},
                         {"ranks", ranks},
                         {"cells", s->cells},
                         {"geomean", s->geomean},
                         {"lowest", s->lowest}});
  }
}

// Uses the format of Google Benchmark, so that tools for it find names and times.
nlohmann::ordered_json results::json() const {
  using nlohmann::ordered_json;
  ordered_json copies = ordered_json::array();
  for (const auto& entry : speeds_.entries) {
    copies.push_back({{"bytes", entry.bytes}, {"cores", entry.cores}, {"gb_per_s", entry.gb_per_s}});
  }
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> date{};
  std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  ordered_json result{{"context",
                       {{"date", date.data()},
                        {"executable", "compare"},
                        {"num_cpus", cores_},
                        {"processor", tutti::tuning::processor()},
                        {"copy_speed", copies}}},
                      {"benchmarks", ordered_json::array()},
                      {"summaries", ordered_json::array()}};

  std::set<int> ranks;
  for (const auto& r : runs_) ranks.insert(r.ranks);
  for (const int p : ranks) {
    for (const auto& name : engines_at(p)) {
      std::map<case_key, ordered_json> cases;
      for (const auto& r : runs_) {
        if (r.ranks != p || r.engine != name) continue;
        for (const auto& [key, f] : r.figures) {
          cases[key].push_back({{"us", f.us},
                                {"noise", f.noise},
                                {"repeat", r.repeat},
                                {"distance_ns", r.distance ? ordered_json(*r.distance) : ordered_json()},
                                {"round_trip_ns", {r.trip_before, r.trip_after}}});
        }
      }
      for (const auto& [key, all] : cases) {
        ordered_json entry{{"name", fmt::format("{}/{}/p:{}/{}", key.collective, key.bytes, p, name)},
                           {"run_type", "iteration"},
                           {"time_unit", "us"},
                           {"engine", name},
                           {"default_engine", name == default_engine(p, cores_)},
                           {"ranks", p},
                           {"collective", key.collective},
                           {"bytes", key.bytes}};
        add_best(entry, p, name, key);
        entry["runs"] = all;
        result["benchmarks"].push_back(std::move(entry));
      }
      add_summaries(result["summaries"], p, name);
    }
  }
  return result;
}

}  // namespace bench
