// SPDX-License-Identifier: Apache-2.0
//
// tutti validate: checks decision trees and reports every error with its place.
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "selection/tree.hpp"
#include "selection/tree_text.hpp"
#include "subcommands.hpp"

namespace tutti::tool {

void add_validate(CLI::App& app, int& status) {
  struct validate_options {
    std::vector<std::string> files;
    bool whole = false, as_json = false;
  };
  auto* validate = app.add_subcommand("validate", "Check that decision trees are valid");
  auto case_options = std::make_shared<validate_options>();
  validate->add_option("files", case_options->files, "Trees, in the form that TUTTI_TREES reads")->required();
  validate->add_flag("--whole", case_options->whole, "Require that they decide every call by themselves");
  validate->add_flag("--json", case_options->as_json, "An array of faults");
  validate->footer(
      "Status 0: all are valid; 1: one is invalid; 2: one cannot be read.\n"
      "Examples:\n  tutti validate mine.json\n  tutti tree --engine threads > all.json; tutti validate "
      "--whole all.json\n");
  validate->callback([case_options, &status] {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const std::string& name : case_options->files) {
      const auto [text, problem] = read_tree_text(name);
      if (!problem.empty()) {
        fmt::print(stderr, "tutti validate: {}\n", problem);
        status = 2;
        continue;
      }
      const read_result got = read_tree(text, name, case_options->whole ? extent::whole : extent::partial);
      if (!got.good() && status == 0) status = 1;
      for (const fault& f : got.faults) {
        all.push_back({{"file", f.file},
                       {"line", f.line},
                       {"pointer", f.pointer},
                       {"reason", f.reason},
                       {"suggestion", f.suggestion}});
        if (!case_options->as_json) fmt::print("{}\n", f.text());
      }
      if (got.good() && !case_options->as_json) fmt::print("{}: good\n", name);
    }
    if (case_options->as_json)
      fmt::print("{}\n", all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}

}  // namespace tutti::tool
