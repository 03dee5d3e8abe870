// SPDX-License-Identifier: Apache-2.0
//
// tutti tree: the decision trees of an engine, as one document.
#include "select/tree.hpp"

#include <memory>
#include <string>

#include <fmt/core.h>

#include "subcommands.hpp"

namespace tutti::tool {

void add_tree(CLI::App& app, int& status) {
  auto* tree = app.add_subcommand("tree", "The built-in decision trees of an engine, as one document");
  auto engine = std::make_shared<std::string>("threads");
  auto is_default = std::make_shared<bool>(false);
  tree->add_option("--engine", *engine, "threads, fibers or mpi")->capture_default_str();
  tree->add_flag("--default", *is_default, "The built-in ones (there are no others here)");
  tree->footer(
      "Example:\n  tutti tree --engine mpi > mpi.json   # to edit, and name in "
      "TUTTI_COLL_SELECTION_JSON_FILE\n");
  tree->callback([engine, is_default, &status] {
    if (*engine != "threads" && *engine != "fibers" && *engine != "mpi") {
      fmt::print(stderr, "tutti tree: there is no engine \"{}\"; there are threads, fibers and mpi\n",
                 *engine);
      status = 2;
      return;
    }
    fmt::print("{}\n", write_tree(builtin_document(*engine)));
  });
}

}  // namespace tutti::tool
