// SPDX-License-Identifier: Apache-2.0
#include "base/environment_variables.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/report_text.hpp"
#include "tutti/collective.hpp"
#include "tutti/error.hpp"

extern "C" char** environ;

namespace tutti::detail {
namespace {

constexpr std::array table = std::to_array<variable>({
    {"TUTTI_ENGINE", "the name of an engine", "chosen automatically", "the engine that runs the ranks"},
    {"TUTTI_RANKS", "1 to 1000000", "the cores this process may use", "ranks of the embedded engines"},
    {"TUTTI_PIN", "0, 1", "1 if there are as many threads as cores", "bind each thread to a core"},
    {"TUTTI_CHECK", "0, 1", "0",
     "compare every call on all ranks before it starts, and report the ranks that differ"},
    {"TUTTI_NODES",
     "4x2 (4 nodes of 2 ranks), 2x3x4 (2 nodes of 3 nodes of 4), 3,1,4 (nodes of 3, 1 and 4 ranks) or "
     "0:1:0:1 "
     "(the node of each rank)",
     "mpi: ranks that share memory form a node; else one node",
     "distribute the ranks over nodes, which need not exist; over MPI the ranks are those of MPI_COMM_WORLD, "
     "and the value on rank 0 applies"},
    {"TUTTI_TRACE", "calls, calls:json=FILE, tasks:FILE, or two of them separated by a comma", "",
     "calls: at the end of the run, print for each communicator and kind of call the number of calls, the "
     "algorithms, the bytes and the time; tasks: write the tasks and their transfers in Chrome's trace "
     "format"},
    {"TUTTI_PRELOAD_STATS", "0, 1, json:FILE", "0",
     "under tutti preload: at MPI_Finalize, print or write how many calls of each collective were rerouted "
     "or left to MPI, the algorithms, the bytes and the time"},
    {"TUTTI_PRELOAD_NONBLOCKING", "0, 1",
     "1 over Open MPI with neither MPI_THREAD_MULTIPLE nor TUTTI_CHECK=1; else 0",
     "under tutti preload: 0 leaves the nonblocking collectives to MPI"},
    {"TUTTI_SHARED_HEAP", "0, 1", "0",
     "under tutti preload: 1 allocates the program's memory, from 64 KiB on, where the other processes "
     "of the node can map it"},
    {"TUTTI_TASK_WORKERS", "1 to 1024", "1",
     "number of kernels that a rank of a task program runs at the same time, unless the program sets it"},
    {"TUTTI_MODULE_PATH", "folders, separated by ':'", "",
     "the folders that are searched first for modules, which contain engines or workers for tasks; a module "
     "is loaded only if root or the user owns it and the folders above it, and others may not write to them"},
    {"TUTTI_TREES", "a file, or none",
     "tutti/trees.json in $XDG_CONFIG_HOME or ~/.config, if it exists; none: no file",
     "decision trees of pure algorithms and of compositions, which override those of the engine"},
    {"TUTTI_COLL_SELECTION_JSON_FILE", "a file", "",
     "decision trees, of which only those of pure algorithms are read; they override TUTTI_TREES"},
    {"TUTTI_COLL_COMPOSITION_JSON_FILE", "a file", "", "the same for the trees of compositions"},
    {"TUTTI_COLL_STRICT", "0, 1", "0",
     "1: an invalid decision tree is an error; 0: it is reported and ignored"},
    {"TUTTI_COLL_FALLBACK", "error, warn, silent (0: error, 1: warn)", "warn",
     "what happens if a named algorithm does not serve a call: error: the call fails; warn: another one is "
     "used, which is reported once; silent: another one is used"},
    {"TUTTI_<COLLECTIVE>_ALGORITHM",
     "an algorithm's name, with parameters such as ring:segment=64K, or native", "",
     "for example TUTTI_ALLREDUCE_ALGORITHM=ring: calls within a group use it if its restrictions allow, and "
     "use no composition unless one is set too"},
    {"TUTTI_<COLLECTIVE>_INTER_ALGORITHM", "an algorithm's name, with parameters", "",
     "the same for calls between two groups"},
    {"TUTTI_<COLLECTIVE>_COMPOSITION",
     "a composition's name, with parameters such as pipeline:segment=64K, or @pure", "",
     "for example TUTTI_ALLREDUCE_COMPOSITION=reduce_bcast: calls use this composition if its restrictions "
     "allow; @pure: calls use no composition; algorithms that are set apply to the inner calls"},
});

std::string upper(std::string_view name) {
  std::string text(name);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

std::span<const variable> variables() noexcept { return table; }

std::vector<std::string> names_of(const variable& v) {
  constexpr std::string_view any = "<COLLECTIVE>";
  const std::size_t at = v.name.find(any);
  std::vector<std::string> names;
  if (at == v.name.npos) names.emplace_back(v.name);
  if (at != v.name.npos)
    for (const std::string_view what : collective_names)
      names.push_back(std::string(v.name.substr(0, at)) + upper(what) +
                      std::string(v.name.substr(at + any.size())));
  return names;
}

std::optional<std::string> setting(std::string_view name) {
  // In a setuid program the user must not choose which code or files to open.
  const char* value = secure_getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{}) return std::nullopt;
  int shift = 0;
  if (stop != end) {
    constexpr std::string_view units = "KkMmGg";
    if (const auto at = units.find(*stop); at != units.npos) {
      shift = 10 * (static_cast<int>(at) / 2 + 1);
      ++stop;
    }
    const std::string_view rest(stop, static_cast<std::size_t>(end - stop));
    if (rest == "B" || (shift != 0 && rest == "iB")) stop = end;
  }
  if (stop != end || __builtin_mul_overflow(value, std::uint64_t{1} << shift, &value)) return std::nullopt;
  return value;
}

std::uint64_t number_setting(std::string_view name, std::uint64_t min, std::uint64_t max,
                             std::uint64_t default_value) {
  const auto text = setting(name);
  if (!text) return default_value;
  const auto value = read_number(*text);
  if (!value || *value < min || *value > max)
    throw usage_error("run", -1, std::string(name),
                      "is \"" + echoed(*text) + "\", not a number from " + std::to_string(min) + " to " +
                          std::to_string(max),
                      "set such a number, or unset it");
  return *value;
}

bool switch_setting(std::string_view name, bool default_value) {
  return number_setting(name, 0, 1, default_value ? 1 : 0) != 0;
}

std::vector<std::string> unknown_settings(std::span<const variable> all) {
  std::vector<std::string> known, unknown;
  for (const variable& v : all)
    for (std::string& name : names_of(v)) known.push_back(std::move(name));
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (name.starts_with("TUTTI_") && std::find(known.begin(), known.end(), name) == known.end())
      unknown.emplace_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace tutti::detail
