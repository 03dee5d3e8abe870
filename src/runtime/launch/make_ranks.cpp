// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/make_ranks.hpp"

#include <algorithm>
#include <vector>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/embedded/sleep.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

std::vector<std::string> names_of(const std::vector<module_file>& modules) {
  std::vector<std::string> names;
  for (const auto& m : modules) names.push_back(m.name);
  return names;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : between) + w;
  return text.empty() ? "none" : text;
}

// Selects the module that fits. It never guesses: if none or several fit, it throws an error.
module_file pick_module(const launcher& by, const char* header) {
  std::vector<std::string> rejected;
  const auto available = find_modules(header, &rejected);
  std::vector<std::string> folders = module_folders(header);
  for (std::string& one : folders) one = echoed(one);
  std::string searched = "searched: " + joined(folders, ", ");
  if (!rejected.empty()) searched += "; not loaded: " + joined(rejected, "; ");
  std::string requested = by.module;
  if (const auto set = setting("TUTTI_MPI")) requested = *set;
  if (requested.empty()) {
    if (available.size() == 1) return available.front();
    if (available.empty())
      throw engine_error("run", -1, "TUTTI_ENGINE", "no MPI module is installed (" + searched + ")",
                         "install Open MPI or MPICH and build tutti again, or set TUTTI_MODULE_PATH");
    throw engine_error("run", -1, "TUTTI_MPI",
                       "more than one MPI module fits (" + joined(names_of(available), ", ") +
                           ") and the launcher does not determine which",
                       "set TUTTI_MPI to one of them");
  }
  if (!by.module.empty() && by.module != requested)
    throw engine_error("run", -1, "TUTTI_MPI",
                       "is " + echoed(requested) + ", but the launcher belongs to " + by.module + " (" +
                           by.variable + " is set)",
                       "use the launcher of the same MPI, or unset TUTTI_MPI");
  for (const auto& m : available)
    if (m.name == requested) return m;
  throw engine_error(
      "run", -1, by.mpi ? by.variable : "TUTTI_MPI",
      (by.mpi ? "an MPI launcher of " + echoed(requested) + " started this program, but the module "
              : "the module ") +
          echoed(requested) + " is not installed (there: " + joined(names_of(available), ", ") + "; " +
          searched + ")",
      rejected.empty() ? "build tutti where that MPI is installed, or set TUTTI_MODULE_PATH"
                       : "make the module a regular file; make root or yourself the owner of it and the "
                         "folders above it, writable by nobody else; or set TUTTI_MODULE_PATH");
}

}  // namespace

int default_ranks(const engine_entry& engine) noexcept { return std::min(usable_cores(), engine.max_ranks); }

outcome make_ranks(const engine_entry& engine, launch how, int argc, char** argv, const char* header,
                   const rank_program& program) {
  how.pin = std::nullopt;
  if (setting("TUTTI_PIN")) how.pin = switch_setting("TUTTI_PIN", false);
  if (engine.embedded()) {
    if (how.ranks > engine.max_ranks)
      throw usage_error("run", -1, "TUTTI_RANKS",
                        "is " + std::to_string(how.ranks) + ", but the engine " + std::string(engine.name) +
                            (engine.max_ranks == 1 ? " has " : " has at most ") +
                            std::to_string(engine.max_ranks) + (engine.max_ranks == 1 ? " rank" : " ranks"),
                        std::string(engine.limit));
    return engine.run(how, program);
  }
  const launcher by = find_launcher();
  const engine_module& module = load_module(pick_module(by, header)).module;
  return module.run(argc, argv, how, [&](endpoint& ep) {
    if (by.ranks > 0 && ep.size() != by.ranks)
      throw engine_error("run", ep.rank(), by.variable,
                         "reports that the job has " + std::to_string(by.ranks) +
                             " ranks, but MPI started with " + std::to_string(ep.size()),
                         "use the launcher that belongs to " + std::string(module.name));
    program(ep);
  });
}

}  // namespace tutti::detail
