// SPDX-License-Identifier: Apache-2.0
#include "support/failure_report.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <unistd.h>

#include "support/launchers.hpp"
#include "support/scoped_variable.hpp"

namespace tests {
namespace {

// Variables for the options of the caller, because all ranks of a launch inherit variables.
constexpr const char* only_variable = "TESTS_ONLY";
constexpr const char* seed_variable = "TESTS_SEED";

std::string quoted(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-+./:,=@%", c) != nullptr;
  });
  if (plain) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

bool affects_run(const std::string& name) {
  return name.starts_with("TUTTI_") || name == "GROUP_OF_TESTS" || name.ends_with("SAN_OPTIONS");
}

}  // namespace

std::string failure_site::text() const {
  std::string all;
  if (rank >= 0) all += "rank " + std::to_string(rank) + " of " + std::to_string(ranks);
  if (!engine.empty()) all += (all.empty() ? "on " : " on ") + engine;
  if (seed != 0) all += " (seed " + std::to_string(seed) + ")";
  return all;
}

std::string selected_case() { return variable(only_variable).value_or(""); }

std::optional<std::uint64_t> selected_seed() {
  const auto text = variable(seed_variable);
  return text ? std::optional<std::uint64_t>(std::stoull(*text)) : std::nullopt;
}

program_start::program_start(int& argc, char** argv) {
  program_ = std::filesystem::read_symlink("/proc/self/exe").string();
  if (const auto seed = variable("TUTTI_TEST_SEED")) {
    setenv(seed_variable, seed->c_str(), 1);
    unsetenv("TUTTI_TEST_SEED");
  }
  for (int i = 1; i + 1 < argc; ++i)
    if (std::string_view(argv[i]) == "--only") {
      setenv(only_variable, argv[i + 1], 1);
      std::copy(argv + i + 2, argv + argc + 1, argv + i);  // including the null at the end
      argc -= 2;
      break;
    }
  arguments_.assign(argv + std::min(argc, 1), argv + argc);
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string text = *one;
    const std::size_t equals = text.find('=');
    if (equals != text.npos && affects_run(text.substr(0, equals)))
      variables_.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  std::sort(variables_.begin(), variables_.end());
}

std::string program_start::repeat_command(const failure_site& at, const std::vector<std::string>& arguments,
                                          const std::string& seed) const {
  std::string launch;
  for (const mpi_launcher& one : mpi_launchers())
    if (one.mpi == at.engine) launch = one.command + " -n " + std::to_string(at.ranks) + " ";
  auto all = variables_;
  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(all, [&](const auto& one) { return one.first == name; });
    if (!value.empty()) all.emplace_back(name, value);
  };
  if (!at.engine.empty()) {
    set("TUTTI_ENGINE", launch.empty() ? at.engine : "");
    set("TUTTI_RANKS", launch.empty() ? std::to_string(at.ranks) : "");
    set("TUTTI_SEED", at.seed != 0 ? std::to_string(at.seed) : "");
  }
  set("TUTTI_TEST_SEED", !seed.empty() ? seed : variable(seed_variable).value_or(""));
  std::string text = "again: ";
  for (const auto& [name, value] : all) text += name + "=" + quoted(value) + " ";
  text += launch + quoted(program_);
  for (const std::string& one : arguments) text += " " + quoted(one);
  return text;
}

}  // namespace tests
