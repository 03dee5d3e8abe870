// SPDX-License-Identifier: Apache-2.0
//
// The values in machine files: keys, numbers, quantities with units, names of links.
#include <algorithm>
#include <set>

#include "selection/suggestion.hpp"
#include "simulation/machine_reader.hpp"

namespace tutti::simulation {

void machine_reader::report(std::string pointer, int line, std::string reason, std::string suggestion) {
  constexpr std::size_t max_faults = 100;
  if (faults_.size() < max_faults)
    faults_.push_back({file_, std::move(pointer), line, std::move(reason), std::move(suggestion)});
}

namespace {

// Bytes below 32, 127, and the control characters of Unicode (U+0080 to U+009F).
bool is_control(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  if (byte(i) < 32 || byte(i) == 127) return true;
  return byte(i) == 0xc2 && i + 1 < text.size() && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0;
}

// The text with "?" in place of each control character.
std::string printable(std::string_view text) {
  std::string made;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool control = is_control(text, i);
    made += control ? '?' : text[i];
    if (control && text[i] == '\xc2') ++i;
  }
  return made;
}

// The members and elements that lead to a place, by their number.
std::vector<std::size_t> path_of(const json::value& root, std::string_view pointer) {
  std::vector<std::size_t> path;
  const json::value* at = &root;
  std::string passed;
  while (passed.size() < pointer.size()) {
    std::size_t i = 0;
    std::string next;
    for (; i < at->items.size(); ++i) {
      next = at->is == json::value::type::object ? child_pointer(passed, at->keys[i].name)
                                                 : child_pointer(passed, i);
      if (pointer.starts_with(next) && (pointer.size() == next.size() || pointer[next.size()] == '/')) break;
    }
    if (i == at->items.size()) break;
    path.push_back(i);
    at = &at->items[i];
    passed = std::move(next);
  }
  return path;
}

}  // namespace

bool machine_reader::validate_texts(const json::value& v, const std::string& pointer) {
  const auto validate = [&](std::string_view text, int line, const std::string& here) {
    const std::string shown = printable(text);
    if (shown == text) return true;
    report(here, line, quoted(shown) + " contains a control character", "remove it, here shown as \"?\"");
    return false;
  };
  if (v.is == json::value::type::text && !validate(v.text, v.line, pointer)) return false;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const bool member = v.is == json::value::type::object;
    const std::string here =
        member ? child_pointer(pointer, printable(v.keys[i].name)) : child_pointer(pointer, i);
    if (member && !validate(v.keys[i].name, v.keys[i].line, here)) return false;
    if (!validate_texts(v.items[i], here)) return false;
  }
  return true;
}

void machine_reader::sort_faults(const json::value& root) {
  std::vector<std::pair<std::vector<std::size_t>, fault>> placed;
  for (fault& f : faults_) placed.emplace_back(path_of(root, f.pointer), std::move(f));
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) {
    return a.second.line != b.second.line ? a.second.line < b.second.line : a.first < b.first;
  });
  faults_.clear();
  for (auto& [path, f] : placed) faults_.push_back(std::move(f));
}

bool machine_reader::expect(const json::value& v, json::value::type is, const std::string& pointer,
                            std::string_view what) {
  if (v.is == is) return true;
  report(pointer, v.line, json::wrong_kind(v, is, what));
  return false;
}

void machine_reader::validate_keys(const json::value& object, const std::string& pointer,
                                   std::span<const std::string_view> known) {
  std::set<std::string_view> seen;
  for (const json::value::key& k : object.keys) {
    const std::string here = child_pointer(pointer, k.name);
    if (!seen.insert(k.name).second) {
      report(here, k.line, quoted(k.name) + " is given twice", "remove one of them");
    } else if (!known.empty() && std::find(known.begin(), known.end(), k.name) == known.end()) {
      report(here, k.line, "there is no key " + quoted(k.name) + " here", suggest(k.name, known));
      misspelt_.push_back(&object);
    }
  }
}

const json::value* machine_reader::require(const json::value& object, std::string_view key,
                                           const std::string& pointer, std::string suggestion) {
  const json::value* v = member(object, key);
  if (v == nullptr && std::find(misspelt_.begin(), misspelt_.end(), &object) == misspelt_.end())
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
