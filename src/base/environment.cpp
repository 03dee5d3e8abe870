// SPDX-License-Identifier: Apache-2.0
#include "base/environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "base/report_text.hpp"
#include "tutti/collective.hpp"
#include "tutti/error.hpp"

extern "C" char** environ;

namespace tutti {
namespace {

constexpr std::array table = std::to_array<variable>({
    {"TUTTI_ENGINE", "the name of an engine", "the one that takes the job by itself",
     "how the ranks are made"},
    {"TUTTI_RANKS", "1 to 1000000", "the cores this process may use", "ranks of the embedded engines"},
    {"TUTTI_PIN", "0, 1", "1 where there are as many threads as cores", "bind each thread to a core"},
    {"TUTTI_CHECK", "0, 1", "0",
     "compare every call on all ranks before it is carried out, and report who differs"},
    {"TUTTI_NODES",
     "4x2 (4 nodes of 2 ranks), 2x3x4 (2 nodes of 3 nodes of 4), 3,1,4 (nodes of so many ranks) or 0:1:0:1 "
     "(the node of each rank)",
     "mpi: ranks that share memory are a node; else one node",
     "lay the ranks out over nodes that need not exist; over MPI those of MPI_COMM_WORLD, and what rank 0 "
     "has set counts"},
    {"TUTTI_TRACE", "calls, calls:json=FILE, tasks:FILE, with a comma between", "",
     "calls: print at the end of the run, for each communicator and kind of call, how many there were, what "
     "ran, the bytes and the time; tasks: write what tasks and their transfers did as a trace of Chrome's"},
    {"TUTTI_PRELOAD_STATS", "0, 1, json:FILE", "0",
     "of a program that runs under tutti preload: print at MPI_Finalize, or write, how often each collective "
     "was rerouted or left to MPI, what ran, the bytes and the time"},
    {"TUTTI_PRELOAD_NONBLOCKING", "0, 1",
     "1 over Open MPI without MPI_THREAD_MULTIPLE and TUTTI_CHECK=1; else 0",
     "under tutti preload: 0 leaves the nonblocking collectives to MPI"},
    {"TUTTI_TASK_WORKERS", "1 to 1024", "1",
     "kernels that a rank of a task program runs at the same time, where the program does not say"},
    {"TUTTI_MODULE_PATH", "folders, separated by ':'", "",
     "where to look first for modules: of engines, and of workers for tasks; a module is loaded only if it "
     "and the folders above it belong to root or the user and others may not write to them"},
    {"TUTTI_TREES", "a file, or none",
     "tutti/trees.json in $XDG_CONFIG_HOME or ~/.config, if it is there; none: not even that",
     "decision trees on top of the engine's own, of pure algorithms and of compositions"},
    {"TUTTI_COLL_SELECTION_JSON_FILE", "a file", "",
     "decision trees of which the pure half alone is read; it goes on top of TUTTI_TREES"},
    {"TUTTI_COLL_COMPOSITION_JSON_FILE", "a file", "", "the same for the composition half"},
    {"TUTTI_COLL_STRICT", "0, 1", "0", "a decision tree at fault is an error, instead of left out and told"},
    {"TUTTI_COLL_FALLBACK", "error, warn, silent (0: error, 1: warn)", "warn",
     "what becomes of a named algorithm that does not serve a call: refuse, or use another and say so once, "
     "or not"},
    {"TUTTI_<COLLECTIVE>_ALGORITHM", "an algorithm's name, with parameters as ring:segment=64K, or native",
     "",
     "as TUTTI_ALLREDUCE_ALGORITHM=ring: within a group, use it wherever its restrictions allow; and no "
     "composition, unless that is set too"},
    {"TUTTI_<COLLECTIVE>_INTER_ALGORITHM", "an algorithm's name, with parameters", "",
     "the same for calls between two groups"},
    {"TUTTI_<COLLECTIVE>_COMPOSITION",
     "a composition's name, with parameters as pipeline:segment=64K, or @pure", "",
     "as TUTTI_ALLREDUCE_COMPOSITION=reduce_bcast: make the collective of others in this way wherever its "
     "restrictions allow, or (@pure) never of others; the algorithm that is set runs inside of it"},
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

std::uint64_t number_setting(std::string_view name, std::uint64_t least, std::uint64_t most,
                             std::uint64_t otherwise) {
  const auto text = setting(name);
  if (!text) return otherwise;
  const auto value = read_number(*text);
  if (!value || *value < least || *value > most)
    throw usage_error("run", -1, std::string(name),
                      "is \"" + echoed(*text) + "\", not a number from " + std::to_string(least) + " to " +
                          std::to_string(most),
                      "set such a number, or unset it");
  return *value;
}

bool switch_setting(std::string_view name, bool otherwise) {
  return number_setting(name, 0, 1, otherwise ? 1 : 0) != 0;
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

}  // namespace tutti
