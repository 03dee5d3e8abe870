// SPDX-License-Identifier: Apache-2.0
//
// Writes the result of `tutti explain` as JSON.
#include <algorithm>

#include "engines/engine_table.hpp"
#include "explain.hpp"
#include "explain_times.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json context_as_json(const queried_call& requested) {
  const selection_context& s = requested.context;
  const call& c = requested.arguments;
  json holding = json::object(), quantities_here = json::object(), from = json::object();
  const condition_bits truth = conditions_of(s);
  for (const condition_entry& e : conditions()) holding[e.name] = (truth & bit(e.which)) != 0;
  for (const engine_condition& e : find_engine(requested.engine)->conditions)
    holding[e.name] = requested.has(e.name);
  for (const quantity_entry& e : quantities()) quantities_here[e.name] = value_of(e.which, s);
  for (const auto& [value, who] : requested.sources) from[value] = who;
  json nodes = json::array();
  for (int n = 0; n < requested.topology.nodes(); ++n) nodes.push_back(requested.topology.members(n).size());
  return {{"engine", requested.engine},
          {"mpi", requested.mpi.empty() ? json() : json(requested.mpi)},
          {"ranks", s.call.ranks},
          {"nodes", nodes},
          {"levels", requested.topology.levels()},
          {"count", c.count},
          {"type", requested.type_name},
          {"element", c.type.size},
          {"op", requested.op_name.empty() ? json() : json(requested.op_name)},
          {"root", is_rooted(c.what) ? json(c.root) : json()},
          {"in_place", c.in_place},
          {"inter", s.call.inter},
          {"reach", name_of(s.reaches)},
          {"nonblocking", !requested.blocking},
          {"conditions", holding},
          {"quantities", quantities_here},
          {"from", from}};
}

// The inner calls of the composition.
json inner_calls_as_json(const explain_result& a) {
  json all = json::array();
  for (const inner_result& one : a.inner_calls)
    all.push_back({{"rank", one.by},
                   {"collective", name_of(one.what)},
                   {"ranks", one.ranks.size()},
                   {"group", one.ranks},
                   {"count", one.count},
                   {"root", one.root},
                   {"in_place", one.in_place},
                   {"times", one.times},
                   {"algorithm", name_of_entry(one.found.pure.pure, one.what)},
                   {"parameters", parameters_of(one.found.pure.pure, one.found.pure.parameter_values)},
                   {"source", source_of(one.found.algorithm_by, decide(a.trees(), one.context))},
                   {"transport", text_or_null(one.transport)}});
  return all;
}

}  // namespace

nlohmann::ordered_json as_json(const explain_result& a) {
  const auto by_or_null = [](const catalogue_entry* e) { return e == nullptr ? json() : json(e->name); };
  json j;
  const call& c = a.requested.arguments;
  j["collective"] = name_of(c.what);
  j["choice"] = {{"algorithm", a.rejection.empty() ? json(name_of_entry(a.chosen(), c.what)) : json()},
                 {"parameters", parameters_of(a.chosen(), a.parameter_values())},
                 {"source", source_of(a)},
                 {"composition", by_or_null(a.found.composed.which)},
                 {"decided_by", place_of(a)},
                 {"transport", text_or_null(a.transport)}};
  if (!a.rejection.empty()) j["refused"] = a.rejection;

  add_times(j, a);
  j["context"] = context_as_json(a.requested);
  j["path"] = json::array();
  for (const path_step& w : path_of(a))
    j["path"].push_back({{"tree", w.half},
                         {"text", w.text},
                         {"file", w.file.empty() ? json() : json(w.file)},
                         {"line", w.line != 0 ? json(w.line) : json()},
                         {"source", w.source},
                         {"requested", w.requested}});
  j["rejected"] = json::array();
  for (const rejected_entry& r : rejected_by(a))
    j["rejected"].push_back({{"algorithm", r.name}, {"reason", r.reason}, {"permitted", r.permitted}});
  j["overrides"] = json::array();
  for (const resolution::rejected_name& u : a.found.rejected_names)
    j["overrides"].push_back({{"name", u.name}, {"source", source_of(u.given_by, {})}, {"reason", u.reason}});
  if (a.found.composed.which == nullptr) return j;
  j["inside"] = inner_calls_as_json(a);
  return j;
}

}  // namespace tutti::tool
