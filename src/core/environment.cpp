// SPDX-License-Identifier: Apache-2.0
#include "core/environment.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "tutti/core/collective.hpp"
#include "tutti/core/error.hpp"

extern "C" char** environ;

namespace tutti {
namespace {

constexpr std::array table = std::to_array<variable>({
    {"TUTTI_ENGINE", "threads, fibers, mpi",
     "mpi under an MPI launcher; else threads up to the number of cores, fibers beyond",
     "how the ranks are made"},
    {"TUTTI_RANKS", "1 to 1000000", "the cores this process may use", "ranks of the embedded engines"},
    {"TUTTI_WORKERS", "1 to 4096", "the cores this process may use", "threads that carry the fibers"},
    {"TUTTI_SEED", "a number; 0 is off", "0",
     "fibers: one worker, and a schedule drawn from the seed that can be run again"},
    {"TUTTI_STACK", "16K to 1G", "256K", "stack of a fiber, in bytes"},
    {"TUTTI_PIN", "0, 1", "1 where there are as many threads as cores", "bind each thread to a core"},
    {"TUTTI_CHECK", "0, 1", "0",
     "compare every call on all ranks before it is carried out, and report who differs"},
    {"TUTTI_MPI", "openmpi, mpich", "the one whose launcher started the program", "which MPI module to load"},
    {"TUTTI_MODULE_PATH", "folders, separated by ':'", "", "where to look first for engine modules"},
    {"TUTTI_COLL_SELECTION_JSON_FILE", "a file", "",
     "a decision tree whose pure half goes on top of the engine's own"},
    {"TUTTI_COLL_COMPOSITION_JSON_FILE", "a file", "", "the same for the composition half"},
    {"TUTTI_COLL_STRICT", "0, 1", "0", "a decision tree at fault is an error, instead of left out and told"},
    {"TUTTI_COLL_FALLBACK", "error, warn, silent (0: error, 1: warn)", "warn",
     "what becomes of a named algorithm that does not serve a call: refuse, or use another and say so once, "
     "or not"},
    {"TUTTI_<COLLECTIVE>_ALGORITHM", "an algorithm's name, with parameters as ring:segment=64K, or native",
     "", "as TUTTI_ALLREDUCE_ALGORITHM=ring: use it wherever its restrictions allow"},
});

bool is_algorithm_variable(std::string_view name) {
  constexpr std::string_view head = "TUTTI_", tail = "_ALGORITHM";
  if (!name.starts_with(head) || !name.ends_with(tail) || name.size() <= head.size() + tail.size())
    return false;
  std::string what(name.substr(head.size(), name.size() - head.size() - tail.size()));
  std::transform(what.begin(), what.end(), what.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(collective_names.begin(), collective_names.end(), what) != collective_names.end();
}

}  // namespace

std::span<const variable> variables() noexcept { return table; }

std::optional<std::string> setting(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{}) return std::nullopt;
  int shift = 0;
  if (stop + 1 == end) {
    constexpr std::string_view units = "KkMmGg";
    if (const auto at = units.find(*stop); at != units.npos) {
      shift = 10 * (static_cast<int>(at) / 2 + 1);
      ++stop;
    }
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
    throw usage_error(
        "run", -1, std::string(name),
        "is \"" + *text + "\", not a number from " + std::to_string(least) + " to " + std::to_string(most),
        "set such a number, or unset it");
  return *value;
}

bool switch_setting(std::string_view name, bool otherwise) {
  return number_setting(name, 0, 1, otherwise ? 1 : 0) != 0;
}

std::vector<std::string> unknown_settings() {
  std::vector<std::string> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with("TUTTI_") || is_algorithm_variable(name)) continue;
    if (std::none_of(table.begin(), table.end(), [&](const variable& v) { return v.name == name; }))
      unknown.emplace_back(name);
  }
  std::sort(unknown.begin(), unknown.end());
  return unknown;
}

}  // namespace tutti
