// SPDX-License-Identifier: Apache-2.0
//
// The values in machine files: keys, numbers, quantities with units, names of links.
#include <algorithm>

#include "selection/suggestion.hpp"
#include "simulation/machine_reader.hpp"

namespace tutti::simulation {

void machine_reader::report(std::string pointer, int line, std::string reason, std::string suggestion) {
  constexpr std::size_t max_faults = 100;
  if (faults_.size() < max_faults)
    faults_.push_back({file_, std::move(pointer), line, std::move(reason), std::move(suggestion)});
}

bool machine_reader::expect(const json::value& v, json::value::type is, const std::string& pointer,
                            std::string_view what) {
  if (v.is == is) return true;
  report(pointer, v.line, json::wrong_kind(v, is, what));
  return false;
}

bool machine_reader::validate_keys(const json::value& object, const std::string& pointer,
                                   std::span<const std::string_view> known) {
  bool good = true;
  std::vector<std::string_view> seen;
  for (const json::value::key& k : object.keys) {
    const std::string here = child_pointer(pointer, k.name);
    if (std::find(seen.begin(), seen.end(), k.name) != seen.end()) {
      report(here, k.line, quoted(k.name) + " is given twice", "remove one of them");
      good = false;
    } else if (!known.empty() && std::find(known.begin(), known.end(), k.name) == known.end()) {
      report(here, k.line, "there is no key " + quoted(k.name) + " here", suggest(k.name, known));
      good = false;
    }
    seen.push_back(k.name);
  }
  return good;
}

const json::value* machine_reader::require(const json::value& object, std::string_view key,
                                           const std::string& pointer, std::string suggestion) {
  const json::value* v = member(object, key);
  if (v == nullptr)
    report(pointer, object.line, "the key " + quoted(key) + " is missing", std::move(suggestion));
  return v;
}

bool machine_reader::read_quantity(const json::value& v, const std::string& pointer, quantity_kind kind,
                                   double& made) {
  const std::string noun(noun_of(kind)), advice(advice_of(kind));
  if (v.is == json::value::type::number) {
    report(pointer, v.line, noun + " needs a unit", advice);
    return false;
  }
  if (!expect(v, json::value::type::text, pointer, noun)) return false;
  const parsed_quantity q = parse_quantity(v.text, kind);
  if (!q.value) {
    report(pointer, v.line,
           !q.is_number     ? quoted(v.text) + " is not " + noun
           : q.unit.empty() ? noun + " needs a unit"
                            : quoted(q.unit) + " is not a unit of " + noun,
           advice);
    return false;
  }
  const quantity_limits limits = limits_of(kind);
  if (!(*q.value >= limits.min && *q.value <= limits.max)) {
    report(pointer, v.line, quoted(v.text) + " is out of range", "it can be " + std::string(limits.text));
    return false;
  }
  made = *q.value;
  return true;
}

void machine_reader::read_quantity_member(const json::value& object, std::string_view key,
                                          const std::string& pointer, quantity_kind kind, double& made) {
  if (const json::value* v = member(object, key)) read_quantity(*v, child_pointer(pointer, key), kind, made);
}

void machine_reader::read_required(const json::value& object, std::string_view key,
                                   const std::string& pointer, quantity_kind kind, double& made) {
  if (require(object, key, pointer, std::string(advice_of(kind))) != nullptr)
    read_quantity_member(object, key, pointer, kind, made);
}

bool machine_reader::read_number_member(const json::value& object, std::string_view key,
                                        const std::string& pointer, std::uint64_t min, std::uint64_t max,
                                        int& made) {
  const json::value* v = member(object, key);
  if (v == nullptr) return true;
  const std::string here = child_pointer(pointer, key);
  if (!expect(*v, json::value::type::number, here, quoted(key))) return false;
  if (!v->is_unsigned || v->number < min || v->number > max) {
    report(here, v->line, quoted(key) + " is " + echoed(v->text),
           "it can be " + std::to_string(min) + " to " + std::to_string(max));
    return false;
  }
  made = static_cast<int>(v->number);
  return true;
}

void machine_reader::read_link(const json::value& object, std::string_view key, const std::string& pointer,
                               link_class& made) {
  const json::value* v = require(object, key, pointer, "the name of a link of \"links\"");
  const std::string here = child_pointer(pointer, key);
  if (v == nullptr || !expect(*v, json::value::type::text, here, quoted(key)) || !links_are_known_) return;
  if (const auto found = links_.find(v->text); found != links_.end()) {
    made = found->second;
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& [name, l] : links_) names.push_back(name);
  report(here, v->line, "there is no link " + quoted(v->text),
         names.empty() ? "define it in \"links\"" : suggest(v->text, names));
}

}  // namespace tutti::simulation
