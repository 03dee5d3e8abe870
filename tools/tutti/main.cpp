// SPDX-License-Identifier: Apache-2.0
//
// The command line: tutti <subcommand>. Exit status 0: success; 1: the subcommand found an error;
// 2: wrong usage.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "selection/suggestion.hpp"
#include "subcommands.hpp"
#include "text.hpp"
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace {

// Removes and returns the arguments after --, which belong to another program. CLI11 must not parse
// them: it would split "[a,b]" into two.
std::vector<std::string> extract_command(int& argc, char** argv) {
  if (argc < 2 || std::string_view(argv[1]) != "preload") return {};
  char** const end = argv + argc;
  char** const mark = std::find(argv + 2, end, std::string_view("--"));
  argc = static_cast<int>(mark - argv);
  return mark == end ? std::vector<std::string>() : std::vector<std::string>(mark + 1, end);
}

// Adds the subcommand that the user typed, or all of them if it is none. The options of the others
// take longer than all else that `tutti preload` does.
void add_subcommands(CLI::App& app, int& status, std::string_view typed,
                     const std::vector<std::string>& command) {
  using namespace tutti::tool;
  struct subcommand {
    std::string_view name;
    void (*add)(CLI::App&, int&);
  };
  static constexpr subcommand all[] = {
      {"info", add_info},    {"list", add_list}, {"show", add_show},       {"simulate", add_simulate},
      {"check", add_check},  {"tree", add_tree}, {"explain", add_explain}, {"validate", add_validate},
      {"diff", add_diff},    {"tune", add_tune}, {"measure", add_measure}, {"preload", nullptr},
      {"import", add_import}};
  const bool one =
      std::any_of(std::begin(all), std::end(all), [&](const subcommand& s) { return s.name == typed; });
  for (const subcommand& s : all) {
    if (one && s.name != typed) continue;
    if (s.add != nullptr)
      s.add(app, status);
    else
      add_preload(app, status, command);
  }
}

// Returns the subcommand that the user typed if it does not exist, else null.
const char* unknown_subcommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || (argv[1][0] == '-' && argv[1][1] != 0)) return nullptr;
  const auto all = app.get_subcommands([](const CLI::App*) { return true; });
  const auto has_name = [&](const CLI::App* one) { return one->get_name() == argv[1]; };
  return std::none_of(all.begin(), all.end(), has_name) ? argv[1] : nullptr;
}

int report_unknown_subcommand(CLI::App& app, std::string_view typed) {
  std::vector<std::string> names;
  for (const CLI::App* one : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(one->get_name());
  const std::vector<std::string_view> known(names.begin(), names.end());
  fmt::print(stderr, "tutti: there is no subcommand {}; {} (tutti --help)\n", tutti::detail::quoted(typed),
             tutti::detail::suggest(typed, known));
  return 2;
}

// Returns the option that the user typed in place of a subcommand if it does not exist, else null.
const char* unknown_option(const CLI::App& app, int argc, char** argv) {
  if (argc < 2) return nullptr;
  const std::string_view typed = argv[1];
  if (typed.size() < 2 || typed[0] != '-' || typed == "--") return nullptr;
  const std::string_view name = typed[1] == '-' ? typed.substr(0, typed.find('=')) : typed.substr(0, 2);
  return app.get_option_no_throw(std::string(name)) == nullptr ? argv[1] : nullptr;
}

int report_unknown_option(const CLI::App& app, std::string_view typed) {
  std::vector<std::string> names;
  for (const CLI::Option* one : app.get_options())
    for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
  const std::vector<std::string_view> known(names.begin(), names.end());
  fmt::print(stderr, "tutti: there is no option {} before a subcommand; {} (tutti --help)\n",
             tutti::detail::quoted(typed), tutti::detail::suggest(typed, known));
  return 2;
}

// Output may still fail when it is flushed, for example on a full disk.
int finish(const CLI::App& app, int status) {
  errno = 0;
  std::cout.flush();
  const bool good = std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (good) return status;
  const auto used = app.get_subcommands();
  fmt::print(stderr, "tutti{}: the output could not be written{}\n",
             used.empty() ? "" : " " + used.front()->get_name(),
             errno == 0 ? std::string() : std::string(": ") + std::strerror(errno));
  return status == 0 ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> command = extract_command(argc, argv);
  CLI::App app{"tutti: collective communication for C++"};
  app.set_version_flag("--version", std::string("tutti ") + TUTTI_VERSION);
  app.require_subcommand(1);
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  app.failure_message([&](const CLI::App* one, const CLI::Error& e) {
    return tutti::tool::with_short_values(CLI::FailureMessage::simple(one, e), arguments);
  });
  app.footer(
      "Examples:\n  tutti info\n  tutti info --json\n  tutti list allreduce\n  tutti show allreduce/ring "
      "--ranks 8\n"
      "  tutti check allreduce/ring --ranks 1..16\n"
      "  tutti preload -- mpirun -n 4 ./app\n");
  int status = 0;
  add_subcommands(app, status, argc > 1 ? argv[1] : "", command);
  if (const char* typed = unknown_subcommand(app, argc, argv)) return report_unknown_subcommand(app, typed);
  if (const char* typed = unknown_option(app, argc, argv)) return report_unknown_option(app, typed);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return finish(app, app.exit(e) == 0 ? 0 : 2);
  } catch (const tutti::tool::called_wrongly& e) {
    fmt::print(stderr, "tutti {}: {}\n", app.get_subcommands().front()->get_name(), e.what());
    return 2;
  } catch (const tutti::usage_error& e) {  // an invalid variable or name
    fmt::print(stderr, "{}\n", e.what());
    return 2;
  } catch (const std::system_error& e) {  // fmt at the first failed write; files and threads
    if (std::cout.good() && std::ferror(stdout) == 0) fmt::print(stderr, "tutti: {}\n", e.what());
    return finish(app, 1);
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return finish(app, status);
}
