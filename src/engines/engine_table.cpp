// SPDX-License-Identifier: Apache-2.0
#include "engines/engine_table.hpp"

#include <algorithm>

#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

const engine_entry* find_engine(std::string_view name) noexcept {
  for (const engine_entry* e : engines())
    if (e->name == name) return e;
  return nullptr;
}

const engine_entry& pick_engine(std::string_view name, const start_conditions& now) {
  for (const engine_entry* e : engines())
    if (name.empty() ? e->by_default != nullptr && e->by_default(now) : e->name == name) return *e;
  throw usage_error("run", -1, "TUTTI_ENGINE",
                    name.empty() ? "names no engine, and no engine is chosen automatically for this job"
                                 : "there is no engine \"" + echoed(name) + "\"",
                    "choose " + engine_names("or"));
}

std::string transport_of(const engine_entry& engine, const reported_call& c) {
  if (c.topology.ranks() == 1) return "none, because there is one rank";
  if (engine.transport != nullptr) return engine.transport(c);
  return engine.shared_memory ? "memory of the process" : "messages of the engine";
}

std::string engine_names(std::string_view last_word) {
  const auto all = engines();
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0) text += i + 1 < all.size() ? ", " : " " + std::string(last_word) + " ";
    text += all[i]->name;
  }
  return text;
}

std::vector<variable> all_variables() {
  const auto shared = variables();
  std::vector<variable> all(shared.begin(), shared.end());
  for (const engine_entry* e : engines())
    for (const variable& v : e->variables)
      if (std::none_of(all.begin(), all.end(), [&](const variable& listed) { return listed.name == v.name; }))
        all.push_back(v);
  return all;
}

}  // namespace tutti::detail
