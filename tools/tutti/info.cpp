// SPDX-License-Identifier: Apache-2.0
//
// tutti info: shows what this installation can do here: engines, MPIs, the machine, and the
// variables in effect.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "engines/node_topology.hpp"
#include "runtime/launch/make_ranks.hpp"
#include "runtime/launch/modules.hpp"
#include "runtime/settings/active_trees.hpp"
#include "schedule/algorithm.hpp"
#include "subcommands.hpp"
#include "tuning/machine.hpp"
#include "tutti/collectives.hpp"
#include "tutti/communicator.hpp"
#include "tutti/error.hpp"
#include "tutti/run.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {

using namespace tutti::detail;

namespace {

using json = nlohmann::ordered_json;

std::string count_of(int n, const char* noun) { return std::to_string(n) + ' ' + noun + (n == 1 ? "" : "s"); }

json caches() {
  json found = json::array();
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::ifstream level(folder + "level"), type(folder + "type"), size(folder + "size");
    std::string l, t, s;
    if (!(level >> l) || !(type >> t) || !(size >> s)) continue;
    if (t != "Instruction") found.push_back({{"level", l}, {"size", s}});
  }
  return found;
}

// `node_level`: the level of the nodes. Levels below it divide them.
json describe_topology(const hierarchy& topology, int node_level) {
  const auto sizes = [&](int level) {
    const int each = topology.ranks_per_node(level);
    return each > 0 && topology.nodes(level) > 1 ? " of " + std::to_string(each) : std::string();
  };
  json one;
  std::string text = count_of(topology.ranks(), "rank") + " on " +
                     count_of(topology.nodes(node_level), "node") + sizes(node_level);
  for (int l = node_level + 1; l < topology.levels(); ++l)
    text += ", these on " + std::to_string(topology.nodes(l));
  for (int l = node_level - 1; l >= 0; --l)
    text += ", bound to " + std::to_string(topology.nodes(l)) + " sockets or caches" + sizes(l);
  one["ranks"] = topology.ranks();
  one["levels"] = json::array();
  for (int l = 0; l < topology.levels(); ++l)
    one["levels"].push_back({{"nodes", topology.nodes(l)}, {"ranks_per_node", topology.ranks_per_node(l)}});
  one["node_level"] = node_level;
  one["consecutive"] = topology.consecutive();
  one["text"] = text + (topology.consecutive() ? "" : ", ranks of a node not consecutive");
  return one;
}

// The topology of the ranks that a run would have here. Over MPI only MPI itself knows it, unless
// TUTTI_NODES is set.
json active_topology() {
  const launcher by = find_launcher();
  const engine_entry* named = find_engine(setting("TUTTI_ENGINE").value_or(""));
  const bool over_mpi = named != nullptr ? !named->embedded() : by.mpi;
  const auto simulated = setting(topology_variable);
  json one{{"pretended", simulated.has_value()}};
  if (over_mpi && (!simulated || by.ranks <= 0)) {
    one["text"] = simulated ? *simulated : "ranks that share memory form a node";
    return one;
  }
  try {
    const int ranks =
        over_mpi
            ? by.ranks
            : static_cast<int>(number_setting(
                  "TUTTI_RANKS", 1, 1000000,
                  static_cast<std::uint64_t>(named != nullptr ? default_ranks(*named) : usable_cores())));
    one.update(describe_topology(topology_of_process(ranks), 0));
  } catch (const usage_error& fault) {
    one["fault"] = fault.what();
  }
  return one;
}

// The transports of all ranks, as rank 0 prints them: one entry for each list of facts that differs
// from the others, with its ranks.
json transports_of_all(communicator& world) {
  const std::vector<std::string> mine = endpoint_of(impl_of(world)).transports();
  std::vector<char> text;
  for (const std::string& fact : mine) {
    text.insert(text.end(), fact.begin(), fact.end());
    text.push_back('\n');
  }
  const auto [all, counts] = world.allgatherv(send_buf(text), recv_counts_out());
  json found = json::array();
  auto from = all.begin();
  for (int r = 0; r < world.size(); ++r) {
    const auto to = from + counts[static_cast<std::size_t>(r)];
    json facts = json::array();
    for (auto at = from; at != to;) {
      const auto end = std::find(at, to, '\n');
      facts.push_back(std::string(at, end));
      at = end + 1;
    }
    from = to;
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const json& one) { return one["transports"] == facts; });
    if (same != found.end())
      (*same)["ranks"].push_back(r);
    else
      found.push_back({{"ranks", json::array({r})}, {"transports", facts}});
  }
  return found;
}

// The names of the built-in trees of all ranks, each once. A job has one name.
json trees_of_all(communicator& world) {
  const std::string_view mine = endpoint_of(impl_of(world)).trees();
  const std::vector<char> text(mine.begin(), mine.end());
  const auto [all, counts] = world.allgatherv(send_buf(text), recv_counts_out());
  json found = json::array();
  auto from = all.begin();
  for (const auto count : counts) {
    const json name = std::string(from, from + count);
    if (std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    from += count;
  }
  return found;
}

// Starts the ranks of an MPI job, if this process is one. Adds their topology, their built-in
// trees, and how they exchange data. Returns whether this process prints, which all ranks but the
// first do not. `status` is not 0 if the job failed.
bool add_ranks(json& to, int& status) {
  to["transports"] = json();
  to["builtin_trees"] = json();
  if (!find_launcher().mpi) return true;
  bool is_first = true;
  json found, topology, trees;
  run_options options;
  options.engine = "mpi";
  status = run(
      options,
      [&](communicator& world) {
        is_first = world.rank() == 0;
        found = transports_of_all(world);
        trees = trees_of_all(world);
        const endpoint& ep = endpoint_of(impl_of(world));
        topology = describe_topology(ep.topology(), ep.node_level());
      },
      std::nothrow);
  if (status != 0) return is_first;
  to["transports"] = found;
  to["builtin_trees"] = trees;
  to["topology"].update(topology);
  return is_first;
}

json collect() {
  json all;
  all["version"] = TUTTI_VERSION;
  all["modules"] = json::array();
  std::vector<std::string> rejected;
  for (const auto& m : find_modules(nullptr, &rejected)) {
    const module_description about = describe_module(m);
    json one{{"name", m.name}, {"file", about.path.empty() ? m.paths.front() : about.path}};
    one[about.problem.empty() ? "version" : "fault"] = about.problem.empty() ? about.version : about.problem;
    all["modules"].push_back(one);
  }
  all["not_loaded"] = rejected;
  all["engines"] = json::array();
  for (const engine_entry* e : engines())
    if (e->embedded() || !all["modules"].empty()) all["engines"].push_back(e->name);
  all["searched"] = module_folders();
  all["machine"] = {{"processor", tuning::processor()},
                    {"usable_cores", usable_cores()},
                    {"caches", caches()},
                    {"memory_mib", sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / 1024}};
  all["topology"] = active_topology();
  const detail::trees_file trees = detail::user_trees();
  all["trees"] = trees.path.empty() ? json() : json(trees.path);
  all["algorithms"] = catalogue().size();
  all["variables"] = json::array();
  for (const variable& v : all_variables()) {
    const auto value = setting(v.name);
    all["variables"].push_back({{"name", v.name},
                                {"value", value ? json(*value) : json()},
                                {"values", v.values},
                                {"default", v.default_value},
                                {"meaning", v.meaning}});
    if (const auto names = names_of(v); names.size() > 1) {
      json& set = all["variables"].back()["set"] = json::object();
      for (const std::string& name : names)
        if (const auto one = setting(name)) set[name] = *one;
    }
  }
  all["unknown_variables"] = unknown_settings(all_variables());
  return all;
}

// Prints docs/environment.md. A test compares the file with it.
void print_markdown() {
  fmt::print("# Environment variables\n\n");
  fmt::print(
      "`tutti info --markdown` writes this page from the table of the library\n"
      "(`src/base/environment_variables.cpp`) and those of the engines (`src/engines/*/engine.cpp`).\n"
      "`tutti info` reports every other `TUTTI_*` variable as unknown.\n\n");
  fmt::print("| variable | values | default | what it does |\n| --- | --- | --- | --- |\n");
  for (const variable& v : all_variables())
    fmt::print("| `{}` | {} | {} | {} |\n", v.name, v.values,
               v.default_value.empty() ? "unset" : v.default_value, v.meaning);
  fmt::print("\n## Engines\n\n| engine | ranks | chosen automatically | its variables |\n");
  fmt::print("| --- | --- | --- | --- |\n");
  for (const engine_entry* e : engines()) {
    std::string names;
    for (const variable& v : e->variables) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", v.name);
    fmt::print("| `{}` | {} | {} | {} |\n", e->name, e->meaning, e->when, names.empty() ? "none" : names);
  }
}

std::string list_of(const json& ranks) {
  constexpr std::size_t max_shown = 12;
  std::string text;
  for (std::size_t i = 0; i < ranks.size() && i < max_shown; ++i)
    text += (i == 0 ? "" : " ") + std::to_string(ranks[i].get<int>());
  return ranks.size() > max_shown ? text + " ..." : text;
}

void print_table(const json& all) {
  const auto text = [](const json& j) { return j.get<std::string>(); };
  const auto value_of_user = [](const json& j) { return echoed(j.get<std::string>()); };
  fmt::print("tutti {}\n\nengines\n", text(all["version"]));
  for (const auto& e : all["engines"])
    fmt::print("  {:<10} {}; {}\n", text(e), find_engine(text(e))->meaning, find_engine(text(e))->when);
  fmt::print("\nMPI modules\n");
  for (const auto& m : all["modules"])
    fmt::print("  {:<10} {}\n             {}\n", text(m["name"]),
               text(m.contains("version") ? m["version"] : m["fault"]), value_of_user(m["file"]));
  if (all["modules"].empty()) {
    fmt::print("  none; searched:\n");
    for (const auto& folder : all["searched"]) fmt::print("    {}\n", value_of_user(folder));
  }
  for (const auto& file : all["not_loaded"]) fmt::print("  not loaded: {}\n", text(file));
  fmt::print("\nmachine\n  {}, {} usable cores, {} MiB\n", text(all["machine"]["processor"]),
             all["machine"]["usable_cores"].get<int>(), all["machine"]["memory_mib"].get<long>());
  for (const auto& c : all["machine"]["caches"])
    fmt::print("  level {} cache {}\n", text(c["level"]), text(c["size"]));
  const json& topology = all["topology"];
  const bool fault = topology.contains("fault");
  fmt::print("\ntopology\n  {}{}\n", text(topology[fault ? "fault" : "text"]),
             topology["pretended"].get<bool>() && !fault ? " (TUTTI_NODES)" : "");
  const json transports = all.value("transports", json());
  if (!transports.is_null()) fmt::print("\ntransports\n");
  for (const auto& one : transports) {
    if (transports.size() > 1) fmt::print("  ranks {}\n", list_of(one["ranks"]));
    for (const auto& fact : one["transports"])
      fmt::print("  {}{}\n", transports.size() > 1 ? "  " : "", value_of_user(fact));
  }
  std::string builtin;
  for (const auto& name : all.value("builtin_trees", json()))
    builtin += (builtin.empty() ? "" : ", ") + text(name);
  const bool has_file = !all["trees"].is_null();
  if (builtin.empty())
    builtin = "the built-in ones";
  else
    builtin = (has_file ? "the built-in trees " : "the built-in ones, ") + builtin;
  fmt::print("\ntrees\n  {}\n", has_file ? value_of_user(all["trees"]) + ", on top of " + builtin : builtin);
  fmt::print("\n{} algorithms (tutti list)\n\nvariables\n", all["algorithms"].get<std::size_t>());
  for (const auto& v : all["variables"]) {
    const std::string preset = text(v["default"]).empty() ? "nothing" : text(v["default"]);
    const bool one_per_collective = v.contains("set");
    if (one_per_collective)
      for (const auto& [name, value] : v["set"].items())
        fmt::print("  {:<36} {}\n", name, value_of_user(value));
    if (!one_per_collective || v["set"].empty())
      fmt::print("  {:<36} {}\n", text(v["name"]),
                 v["value"].is_null() ? "(unset: " + preset + ")" : value_of_user(v["value"]));
  }
  for (const auto& name : all["unknown_variables"])
    fmt::print("  {:<36} set, but tutti has no such variable\n", value_of_user(name));
}

}  // namespace

void add_info(CLI::App& app, int& status) {
  struct info_options {
    bool as_json = false, as_markdown = false, as_ranks = false;
  };
  auto* info = app.add_subcommand("info", "Engines, MPIs, machine, and the variables in effect");
  auto options = std::make_shared<info_options>();
  info->add_flag("--json", options->as_json, "One JSON object");
  info->add_flag("--markdown", options->as_markdown, "The table of variables, as in docs/environment.md");
  info->add_flag("--ranks", options->as_ranks,
                 "Run as the ranks of an MPI job, and name their topology, built-in trees and transports");
  info->footer(
      "Status 0: printed; not 0: the job of --ranks failed.\n\n"
      "Examples:\n  tutti info\n  tutti info --json | jq .modules\n  mpirun -n 4 tutti info --ranks\n");
  info->callback([options, &status] {
    if (options->as_markdown) {
      print_markdown();
      return;
    }
    // Before the ranks run: to describe the modules is to load them, and MPI must not be over then.
    json all = collect();
    if (options->as_ranks && !add_ranks(all, status)) return;
    if (options->as_json)
      fmt::print("{}\n", all.dump(2));
    else
      print_table(all);
  });
}

}  // namespace tutti::tool
