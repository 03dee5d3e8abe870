// SPDX-License-Identifier: Apache-2.0
//
// tutti preload -- COMMAND: runs an unmodified MPI program with tutti's collectives. It finds the
// library for the launcher's MPI, and arranges that the ranks load it and the launcher does not. It
// then replaces itself by the launcher.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "detect_mpi.hpp"
#include "runtime/launch/modules.hpp"
#include "subcommands.hpp"

namespace tutti::tool {

using namespace tutti::detail;

namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

constexpr const char* example = "tutti preload -- mpirun -n 4 ./app";

struct preload_options {
  bool stats = false, print = false, as_json = false;
  std::string stats_file, mpi;
};

struct plan {
  std::string mpi, library;
  std::string file;                                // the program to start
  words command;                                   // its arguments
  std::map<std::string, std::string> environment;  // its additional variables
};

std::string title(const std::string& mpi) { return mpi == "openmpi" ? "Open MPI" : "MPICH"; }

// Returns the first argument that is a program of `mpi`, or of any MPI if `mpi` is empty, with its
// MPI.
std::pair<std::string, std::string> program_among(const words& command, const std::string& mpi = {}) {
  for (const std::string& word : command) {
    if (word.starts_with('-')) continue;
    const std::string found = mpi_of_program(program_file(word));
    if (!found.empty() && (mpi.empty() || found == mpi)) return {word, found};
  }
  return {};
}

// Under the launcher of another MPI, each rank would be a job of its own.
void refuse_other_programs(const words& command, const std::string& mpi) {
  const words arguments_of_launcher(command.begin() + 1, command.end());
  const auto [program, other] = program_among(arguments_of_launcher);
  if (other.empty() || other == mpi || !program_among(arguments_of_launcher, mpi).first.empty()) return;
  throw called_wrongly(
      fmt::format("{} links {}, but {} belongs to {}; start it with mpirun.{}, or pass --mpi {}",
                  echoed(program), title(other), echoed(command[0]), title(mpi), other, mpi));
}

std::string mpi_by_launcher(const words& command, const std::string& file, const std::string& requested) {
  const std::string mpi = mpi_of_launcher(file);
  if (mpi.empty() && requested.empty())
    throw called_wrongly(fmt::format(
        "{} does not show which MPI it belongs to; pass --mpi openmpi or --mpi mpich", echoed(file)));
  if (!mpi.empty() && !requested.empty() && mpi != requested)
    throw called_wrongly(fmt::format("{} belongs to {}, but --mpi is {}; leave --mpi out, or start mpirun.{}",
                                     echoed(command[0]), title(mpi), requested, requested));
  if (requested.empty()) refuse_other_programs(command, mpi);
  return mpi.empty() ? requested : mpi;
}

std::string mpi_by_program(const words& command, const std::string& requested) {
  if (!requested.empty()) return requested;
  if (const std::string linked = program_among(command).second; !linked.empty()) return linked;
  if (const auto set = setting("TUTTI_MPI"); set && (*set == "openmpi" || *set == "mpich")) return *set;
  throw called_wrongly(fmt::format("{} is not a launcher and links no MPI; pass --mpi openmpi or --mpi mpich",
                                   echoed(command[0])));
}

// `name` is in the folder of the engine modules. `purpose` completes "there is no NAME for ...",
// and `remedy` "build tutti ...".
std::string library_of_modules(const std::string& name, const std::string& purpose,
                               const std::string& remedy) {
  const found_files files = find_files(name, "");
  if (!files.usable.empty()) {
    const std::string& file = files.usable.front();
    // The loader splits LD_PRELOAD at these characters. It would run the program without the
    // library and report nothing useful.
    if (file.find_first_of(" :\t\n") != std::string::npos)
      throw called_wrongly(
          fmt::format("LD_PRELOAD splits names at spaces and colons, but {} has one; set TUTTI_MODULE_PATH "
                      "to a link to its folder that has none",
                      echoed(file)));
    return file;
  }
  if (!files.rejected.empty())
    throw called_wrongly(fmt::format(
        "{} is not loaded: {}; make it a regular file; make root or yourself the owner of it and the "
        "folders above it, writable by nobody else; or set TUTTI_MODULE_PATH to another folder",
        name, fmt::join(files.rejected, "; ")));
  std::vector<std::string> folders = module_folders();
  for (std::string& one : folders) one = echoed(one);
  throw called_wrongly(
      fmt::format("there is no {} for {} (searched: {}); build tutti {}, or set "
                  "TUTTI_MODULE_PATH to the folder",
                  name, purpose, fmt::join(folders, ", "), remedy));
}

// The libraries that the ranks load, as a value of LD_PRELOAD. `library` is that of the MPI.
std::string libraries_of_ranks(const std::string& library) {
  std::string all = library;
  if (switch_setting("TUTTI_SHARED_HEAP", false))
    all += ':' + library_of_modules("libtutti-heap.so", "TUTTI_SHARED_HEAP=1", "again");
  const char* inherited = secure_getenv("LD_PRELOAD");
  if (inherited != nullptr && *inherited != '\0') all += ':' + std::string(inherited);
  return all;
}

// The TUTTI_ variables that the ranks need, by name. It includes those that this process has
// inherited.
std::map<std::string, std::string> settings_for_ranks(const preload_options& options) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (const auto equals = text.find('='); text.starts_with("TUTTI_") && equals != text.npos)
      all[text.substr(0, equals)] = text.substr(equals + 1);
  }
  if (options.stats) all["TUTTI_PRELOAD_STATS"] = "1";
  if (!options.stats_file.empty())
    all["TUTTI_PRELOAD_STATS"] = "json:" + fs::absolute(options.stats_file).string();
  return all;
}

// An LD_PRELOAD option of the launcher comes after ours and would replace it.
void refuse_a_second_preload(const words& command) {
  for (std::size_t i = 1; i + 1 < command.size(); ++i)
    for (const char* option : {"-x", "--x", "-env", "--env", "-genv", "--genv"})
      if (command[i] == option &&
          (command[i + 1] == "LD_PRELOAD" || command[i + 1].starts_with("LD_PRELOAD=")))
        throw called_wrongly(fmt::format(
            "{} LD_PRELOAD would replace that of tutti; set LD_PRELOAD before tutti instead", option));
}

// With Open MPI's --app, a file contains the commands of the programs. A program may have its own
// option --app. Only an option before the first program belongs to the launcher.
void refuse_a_file_of_programs(const words& command) {
  for (std::size_t i = 1; i < command.size() && program_file(command[i]).empty(); ++i)
    if (command[i] == "--app" || command[i] == "-app")
      throw called_wrongly(
          "Open MPI passes no variables to the programs of --app; write them on the command line instead");
}

// Open MPI: -x NAME=VALUE, repeated for each of several programs, which a colon separates.
words for_openmpi(const words& command, const std::string& preload,
                  const std::map<std::string, std::string>& settings) {
  if (secure_getenv("OMPI_MCA_mca_base_env_list") != nullptr)
    throw called_wrongly(
        "Open MPI accepts OMPI_MCA_mca_base_env_list or -x, but not both, and tutti needs -x; unset it, and "
        "pass its variables with -x");
  refuse_a_file_of_programs(command);
  words flags{"-x", "LD_PRELOAD=" + preload};
  for (const auto& [name, value] : settings) {
    const char* now = secure_getenv(name.c_str());
    const bool is_unchanged = now != nullptr && value == now;
    flags.insert(flags.end(), {"-x", is_unchanged ? name : name + '=' + value});
  }
  words all;
  for (const std::string& word : command) {
    all.push_back(word);
    if (all.size() == 1 || word == ":") all.insert(all.end(), flags.begin(), flags.end());
  }
  return all;
}

// MPICH: -genv NAME VALUE, for all programs. By default it passes all other variables.
words for_mpich(const words& command, const std::string& preload,
                const std::map<std::string, std::string>& settings) {
  words all{command[0], "-genv", "LD_PRELOAD", preload};
  for (const auto& [name, value] : settings) all.insert(all.end(), {"-genv", name, value});
  all.insert(all.end(), command.begin() + 1, command.end());
  return all;
}

plan make_plan(const words& command, const preload_options& options) {
  if (command.empty())
    throw called_wrongly(fmt::format("there is no command after --; write it as in: {}", example));
  plan p;
  p.file = program_file(command[0]);
  if (p.file.empty())
    throw called_wrongly(fmt::format("{} is not a program that can be started{}", echoed(command[0]),
                                     command[0].find('/') == std::string::npos
                                         ? "; install it, or add its folder to PATH"
                                         : "; check that the file exists and is executable"));
  const bool launcher = has_launcher_name(p.file);
  p.mpi = launcher ? mpi_by_launcher(command, p.file, options.mpi) : mpi_by_program(command, options.mpi);
  p.library = library_of_modules("libtutti-preload-" + p.mpi + ".so", title(p.mpi),
                                 "where " + title(p.mpi) + " is installed");
  const std::string preload = libraries_of_ranks(p.library);
  const auto settings = settings_for_ranks(options);
  if (launcher) {
    refuse_a_second_preload(command);
    p.command =
        p.mpi == "openmpi" ? for_openmpi(command, preload, settings) : for_mpich(command, preload, settings);
    return p;
  }
  p.command = command;
  p.environment["LD_PRELOAD"] = preload;
  if (options.stats || !options.stats_file.empty())
    p.environment["TUTTI_PRELOAD_STATS"] = settings.at("TUTTI_PRELOAD_STATS");
  return p;
}

// Quotes a word for a shell.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
  if (!word.empty() && word.find_first_not_of(plain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

void print(const plan& p, bool as_json) {
  if (as_json) {
    const nlohmann::ordered_json all{{"mpi", p.mpi},
                                     {"library", p.library},
                                     {"command", p.command},
                                     {"environment", nlohmann::ordered_json(p.environment)}};
    fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
    return;
  }
  std::string line;
  if (!p.environment.empty()) line = "env";
  for (const auto& [name, value] : p.environment) line += ' ' + quoted(name + '=' + value);
  for (const std::string& word : p.command) line += (line.empty() ? "" : " ") + quoted(word);
  fmt::print("{}\n", line);
}

[[noreturn]] void replace_process(plan p) {
  for (const auto& [name, value] : p.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (std::string& word : p.command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(p.file.c_str(), arguments.data());
  throw called_wrongly(fmt::format("{} cannot be started: {}", echoed(p.file), std::strerror(errno)));
}

}  // namespace

void add_preload(CLI::App& app, int& status, const std::vector<std::string>& command) {
  auto* preload =
      app.add_subcommand("preload", "Run an unmodified MPI program with the collectives of tutti");
  auto options = std::make_shared<preload_options>();
  auto* stats =
      preload->add_flag("--stats", options->stats, "Print at the end which calls tutti served, and how");
  preload->add_option("--stats-json", options->stats_file, "Write the same as JSON to this file")
      ->excludes(stats)
      ->option_text("FILE");
  preload
      ->add_option("--mpi", options->mpi,
                   "openmpi or mpich, needed if neither the launcher nor the program shows it")
      ->check(CLI::IsMember({"openmpi", "mpich"}))
      ->option_text("NAME");
  auto* only_print = preload->add_flag("--print", options->print, "Print the command that would run");
  preload->add_flag("--json", options->as_json, "With --print: one JSON object")->needs(only_print);
  preload->allow_extras();

  preload->footer(
      "COMMAND is a launcher of Open MPI or MPICH with all its options, or an MPI program by itself. The "
      "exit\n"
      "status is that of the command, or 2 if it could not be started. TUTTI_ variables reach every rank.\n"
      "Examples:\n"
      "  tutti preload -- mpirun -n 4 ./app\n"
      "  tutti preload --stats -- mpirun.mpich -n 2 ./app --its options\n"
      "  TUTTI_ALLREDUCE_ALGORITHM=ring tutti preload -- mpiexec -n 1 ./a : -n 3 ./b\n"
      "  tutti preload --mpi openmpi -- srun -n 4 python3 script.py\n"
      "  tutti preload --print -- mpirun -n 4 ./app\n");
  preload->callback([preload, options, command, &status] {
    if (const auto extra = preload->remaining(); !extra.empty())
      throw called_wrongly(fmt::format("\"{}\" is not an option; write the command after --, as in: {}",
                                       echoed(extra[0]), example));
    const plan p = make_plan(command, *options);
    if (!options->print) replace_process(p);
    print(p, options->as_json);
    status = 0;
  });
}

}  // namespace tutti::tool
