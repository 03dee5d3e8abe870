// SPDX-License-Identifier: Apache-2.0
//
// tutti import: converts the selection files of other libraries into decision trees.
#include <memory>
#include <string>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "mpich_tree.hpp"
#include "selection/tree_text.hpp"
#include "subcommands.hpp"

namespace tutti::tool {
namespace {

struct import_options {
  std::string file, output;
  bool quiet = false;
};

int import_from_mpich(const import_options& options) {
  const auto [text, problem] = read_tree_text(options.file);
  if (!problem.empty()) throw called_wrongly{problem};
  imported all = import_mpich(text, options.file);
  if (!all.problem.empty()) throw called_wrongly{all.problem};
  all.made.machine["imported"] = "MPICH's selection file " + options.file.substr(options.file.rfind('/') + 1);
  const std::string made = write_tree(all.made);
  if (const read_result got = read_tree(made, "the result"); !got.good()) {
    fmt::print(stderr, "tutti import: the generated tree is invalid and is not written:\n");
    for (const fault& f : got.faults) fmt::print(stderr, "  {}\n", f.text());
    return 1;
  }
  if (!options.quiet && !all.notes.empty()) {
    fmt::print(stderr, "without an exact counterpart:\n");
    for (const std::string& note : all.notes) fmt::print(stderr, "  {}\n", note);
  }
  if (options.output.empty()) {
    fmt::print("{}", made);
    return 0;
  }
  if (const std::string fault = write_regular_file(options.output, made); !fault.empty()) {
    fmt::print(stderr, "tutti import: {}\n", fault);
    return 1;
  }
  fmt::print("{} is written; TUTTI_TREES={} uses it\n", options.output, options.output);
  return 0;
}

}  // namespace

void add_import(CLI::App& app, int& status) {
  auto* import = app.add_subcommand("import", "Convert selection files of other libraries to decision trees");
  import->require_subcommand(1);
  auto* mpich = import->add_subcommand("mpich", "Of MPICH: MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE");
  auto options = std::make_shared<import_options>();
  mpich->add_option("FILE", options->file, "The selection file")->required();
  mpich->add_option("--output", options->output, "The file to write; default: standard output");
  mpich->add_flag("--quiet", options->quiet, "Do not list what has no counterpart");
  mpich->footer(
      "Converts the blocking collectives within one group. It lists on standard error, with the line,\n"
      "what has no exact counterpart: device algorithms, nonblocking collectives, sizes that not all\n"
      "ranks know. In place of such an algorithm the result names one that serves every call, or leaves\n"
      "the choice to the built-in tree. Status 0: written; 1: it could not be written; 2: the file is not\n"
      "a selection file.\n\n"
      "Examples:\n"
      "  tutti import mpich generic.json --output mine.json && tutti validate mine.json\n"
      "  tutti import mpich generic.json > mine.json; TUTTI_TREES=mine.json mpirun -n 4 ./app\n");
  mpich->callback([options, &status] { status = import_from_mpich(*options); });
}

}  // namespace tutti::tool
