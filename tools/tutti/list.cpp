// SPDX-License-Identifier: Apache-2.0
//
// tutti list: the algorithms, what they demand and what they cost.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "schedule/algorithm.hpp"
#include "subcommands.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

json restrictions_of(const pure_algorithm& a) {
  json names = json::array();
  for (const auto& [bit, name] : restriction_names)
    if (demands(a.needs, bit)) names.push_back(name);
  return names;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  struct wishes {
    std::string which;
    bool as_json = false;
  };
  auto* list = app.add_subcommand("list", "The algorithms: restrictions, rounds, bytes, source");
  auto wish = std::make_shared<wishes>();
  list->add_option("collective", wish->which, "Only those of this collective, as allreduce");
  list->add_flag("--json", wish->as_json, "An array of objects");
  list->footer("Examples:\n  tutti list\n  tutti list allgather --json\n");
  list->callback([wish, &status] {
    if (!wish->which.empty() &&
        std::find(collective_names.begin(), collective_names.end(), wish->which) == collective_names.end()) {
      fmt::print(stderr, "tutti list: there is no collective \"{}\"\n", wish->which);
      status = 2;
      return;
    }
    json all = json::array();
    for (const pure_algorithm* a : catalogue()) {
      if (!wish->which.empty() && name_of(a->what) != wish->which) continue;
      all.push_back({{"name", a->name},
                     {"kind", "pure"},
                     {"restrictions", restrictions_of(*a)},
                     {"rounds", a->rounds},
                     {"bytes", a->bytes},
                     {"scratch", a->scratch},
                     {"source", a->source},
                     {"idea", a->idea}});
    }
    if (wish->as_json) {
      fmt::print("{}\n", all.dump(2));
      return;
    }
    fmt::print("{:<32} {:<16} {:<36} {}\n", "name", "restrictions", "rounds", "source");
    for (const auto& a : all) {
      std::string needs;
      for (const auto& r : a["restrictions"]) needs += (needs.empty() ? "" : ",") + r.get<std::string>();
      fmt::print("{:<32} {:<16} {:<36} {}\n", a["name"].get<std::string>(), needs.empty() ? "-" : needs,
                 a["rounds"].get<std::string>(), a["source"].get<std::string>());
    }
  });
}

}  // namespace tutti::tool
