// SPDX-License-Identifier: Apache-2.0
//
// tutti tree: prints decision trees as one document in normal form, or as a drawing.
#include <algorithm>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "base/regular_file.hpp"
#include "engines/engine_table.hpp"
#include "runtime/settings/active_trees.hpp"
#include "subcommands.hpp"
#include "text.hpp"
#include "tree_svg.hpp"
#include "tree_words.hpp"

namespace tutti::tool {
namespace {

struct tree_options {
  std::string file, engine, svg, only;
  bool is_default = false;
};

int write_out(const std::string& text, const std::string& name) {
  if (name == "-") {
    fmt::print("{}", text);
    return 0;
  }
  const std::string problem = write_regular_file(name, text);
  if (problem.empty()) return 0;
  fmt::print(stderr, "tutti tree: {}\n", problem);
  return 1;
}

int run(const tree_options& options) {
  const std::string engine = options.engine.empty() ? default_engine() : options.engine;
  if (!is_engine(engine)) {
    fmt::print(stderr, "tutti tree: there is no engine \"{}\"; there are {}\n", engine, engine_names("and"));
    return 2;
  }
  if (!options.only.empty() &&
      std::find(collective_names.begin(), collective_names.end(), options.only) == collective_names.end()) {
    fmt::print(stderr, "tutti tree: there is no collective \"{}\"; {}\n", options.only,
               suggest_collective(options.only));
    return 2;
  }
  int status = 0;
  std::optional<document> d;
  if (options.file.empty()) {
    d = options.is_default ? builtin_document(engine) : *detail::load_trees(engine);
  } else {
    d = load_tree("tree", options.file, status);
    // With an engine: the file on top of the engine's built-in trees.
    if (d && !options.engine.empty()) d = overlay(builtin_document(engine), *d);
  }
  if (!d) return status;
  if (options.svg.empty()) return write_out(write_tree(*d), "-");
  const std::string title = options.file.empty()     ? "The trees of " + engine
                            : options.engine.empty() ? options.file
                                                     : options.file + " on the trees of " + engine;
  return write_out(tree_as_svg(*d, title, options.only), options.svg);
}

}  // namespace

void add_tree(CLI::App& app, int& status) {
  auto* tree =
      app.add_subcommand("tree", "Print decision trees as one document in normal form, or draw them");
  auto options = std::make_shared<tree_options>();
  tree->add_option(
      "FILE", options->file,
      fmt::format("A document, or built-in trees: {}; default: the trees in effect for an engine",
                  names_of_trees()));
  tree->add_option("--engine", options->engine,
                   engine_names("or") + "; default: " + default_engine() +
                       "; with a file, the engine whose trees it overrides");
  tree->add_flag("--default", options->is_default,
                 "The built-in trees, without the files that the environment names");
  tree->add_option("--svg", options->svg, "Draw them to this file; - is standard output");
  tree->add_option("--collective", options->only, "Draw only this one")->needs("--svg");
  tree->footer(
      "Status 0: done; 1: the drawing cannot be written; 2: the document cannot be read or is invalid.\n"
      "Examples:\n"
      "  tutti tree --engine mpi > mpi.json   # to edit, and name in TUTTI_TREES\n"
      "  tutti tree --default --engine threads --svg threads.svg\n"
      "  tutti tree --engine fibers --collective allreduce --svg -\n");
  tree->callback([options, &status] { status = run(*options); });
}

}  // namespace tutti::tool
