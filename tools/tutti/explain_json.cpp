// SPDX-License-Identifier: Apache-2.0
//
// The answer of `tutti explain` for programs.
#include <algorithm>

#include "engines/conditions.hpp"
#include "explain.hpp"

namespace tutti::tool {

nlohmann::ordered_json as_json(const answer& a) {
  using json = nlohmann::ordered_json;
  const auto by_or_null = [](const catalogue_entry* e) { return e == nullptr ? json() : json(e->name); };
  json j;
  const situation& s = a.asked.seen;
  const call& c = a.asked.meant;
  j["collective"] = name_of(c.what);
  j["choice"] = {{"algorithm", a.refused.empty() ? json(name_of_entry(a.chosen(), c.what)) : json()},
                 {"parameters", parameters_of(a.chosen(), a.knobs())},
                 {"source", source_of(a)},
                 {"composition", by_or_null(a.found.composed.which)},
                 {"said_by", place_of(a)}};
  if (!a.refused.empty()) j["refused"] = a.refused;

  json holding = json::object(), quantities_here = json::object(), from = json::object();
  const condition_bits truth = conditions_of(s);
  for (const condition_entry& e : conditions()) holding[e.name] = (truth & bit(e.which)) != 0;
  for (const engine_condition& e : known_conditions(a.asked.engine))
    holding[e.name] = std::find(a.asked.holds.begin(), a.asked.holds.end(), e.name) != a.asked.holds.end();
  for (const quantity_entry& e : quantities()) quantities_here[e.name] = value_of(e.which, s);
  for (const auto& [value, who] : a.asked.from) from[value] = who;
  json nodes = json::array();
  for (int n = 0; n < a.asked.layout.nodes(); ++n) nodes.push_back(a.asked.layout.members(n).size());
  j["situation"] = {{"engine", a.asked.engine},
                    {"mpi", a.asked.mpi.empty() ? json() : json(a.asked.mpi)},
                    {"ranks", s.call.ranks},
                    {"nodes", nodes},
                    {"levels", a.asked.layout.levels()},
                    {"count", c.count},
                    {"type", a.asked.type_name},
                    {"element", c.type.size},
                    {"op", a.asked.op_name.empty() ? json() : json(a.asked.op_name)},
                    {"root", is_rooted(c.what) ? json(c.root) : json()},
                    {"in_place", c.in_place},
                    {"inter", s.call.inter},
                    {"nonblocking", !a.asked.blocking},
                    {"conditions", holding},
                    {"quantities", quantities_here},
                    {"from", from}};

  j["path"] = json::array();
  for (const way_step& w : way_of(a))
    j["path"].push_back({{"tree", w.half},
                         {"text", w.text},
                         {"file", w.file.empty() ? json() : json(w.file)},
                         {"line", w.line != 0 ? json(w.line) : json()},
                         {"source", w.source},
                         {"asked", w.asked}});
  j["rejected"] = json::array();
  for (const rejected_entry& r : rejected_by(a))
    j["rejected"].push_back({{"algorithm", r.name}, {"reason", r.reason}, {"permitted", r.permitted}});
  j["overrides"] = json::array();
  for (const resolution::unfit& u : a.found.unfits)
    j["overrides"].push_back({{"name", u.name}, {"source", source_of(u.given_by, {})}, {"reason", u.reason}});
  if (a.found.composed.which == nullptr) return j;
  j["inside"] = json::array();
  for (const inner_answer& one : a.inside)
    j["inside"].push_back({{"rank", one.by},
                           {"collective", name_of(one.what)},
                           {"ranks", one.ranks.size()},
                           {"group", one.ranks},
                           {"count", one.count},
                           {"root", one.root},
                           {"in_place", one.in_place},
                           {"times", one.times},
                           {"algorithm", name_of_entry(one.found.pure.pure, one.what)},
                           {"parameters", parameters_of(one.found.pure.pure, one.found.pure.knobs)},
                           {"source", source_of(one.found.algorithm_by, decide(a.trees(), one.seen))}});
  return j;
}

}  // namespace tutti::tool
