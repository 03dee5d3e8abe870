// SPDX-License-Identifier: Apache-2.0
//
// tutti validate: checks decision trees and reports every error with file, line and JSON pointer.
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "selection/tree.hpp"
#include "selection/tree_text.hpp"
#include "subcommands.hpp"

namespace tutti::tool {

using namespace tutti::detail;

void add_validate(CLI::App& app, int& status) {
  struct validate_options {
    std::vector<std::string> files;
    bool whole = false, as_json = false;
  };
  auto* validate = app.add_subcommand("validate", "Validate that decision trees are valid");
  auto options = std::make_shared<validate_options>();
  validate->add_option("files", options->files, "Tree files, as TUTTI_TREES names them")->required();
  validate->add_flag("--whole", options->whole, "Require a choice for every call, without the built-in tree");
  validate->add_flag("--json", options->as_json, "Print the errors as a JSON array");
  validate->footer(
      "Exit status 0: all are valid; 1: one is invalid; 2: one cannot be read.\n"
      "Examples:\n  tutti validate mine.json\n  tutti tree --engine threads > all.json; tutti validate "
      "--whole all.json\n");
  validate->callback([options, &status] {
    nlohmann::ordered_json errors = nlohmann::ordered_json::array();
    for (const std::string& name : options->files) {
      const auto [text, problem] = read_tree_text(name);
      if (!problem.empty()) {
        fmt::print(stderr, "tutti validate: {}\n", problem);
        status = 2;
        continue;
      }
      const read_result got = read_tree(text, name, options->whole ? extent::whole : extent::partial);
      if (!got.good() && status == 0) status = 1;
      for (const fault& f : got.faults) {
        errors.push_back({{"file", f.file},
                          {"line", f.line},
                          {"pointer", f.pointer},
                          {"reason", f.reason},
                          {"suggestion", f.suggestion}});
        if (!options->as_json) fmt::print("{}\n", f.text());
      }
      if (got.good() && !options->as_json) fmt::print("{}: valid\n", name);
    }
    // A file name may contain invalid UTF-8, so dump() replaces such bytes.
    if (options->as_json)
      fmt::print("{}\n", errors.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace tutti::tool
