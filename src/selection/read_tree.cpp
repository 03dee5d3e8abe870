// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "selection/suggestion.hpp"
#include "selection/tree_reader.hpp"

namespace tutti::detail {
namespace {

constexpr std::string_view schema_name = "tutti/tree/1";
constexpr std::size_t max_text_bytes = std::size_t{4} << 20, max_regions = 256, max_faults = 1000;
// Limit for one document: with more conditions the proof would be slow (truth_set.hpp).
constexpr std::size_t max_declared_per_document = 6;

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 60 && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  });
}

// Keys such as "collective=bcast" or "comm_type = intra": MPICH has tests where tutti has names.
bool is_mpich_selection_file(const json::value& v) {
  return std::any_of(v.keys.begin(), v.keys.end(), [](const json::value::key& k) {
    for (const std::string_view name : {"collective", "comm_type", "comm_size", "comm_hierarchy"})
      if (k.name.starts_with(name) && k.name.find_first_of("=<") != k.name.npos) return true;
    return false;
  });
}

}  // namespace

std::string child_pointer(const std::string& pointer, std::string_view key) {
  std::string text = pointer + "/";
  for (const char c : key) c == '~' ? text += "~0" : c == '/' ? text += "~1" : text += c;
  return text;
}

void tree_reader::read(std::string_view text) {
  if (text.size() > max_text_bytes)
    return report("", 1, "the text is longer than " + std::to_string(max_text_bytes >> 20) + " MiB");
  if (const auto zero = text.find('\0'); zero != text.npos)
    return report(
        "", 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n')),
        "the text contains a zero byte");
  json::parsed parsed = json::parse(text);
  if (!parsed.good) return report("", parsed.line, parsed.problem);
  read_document(parsed.root);
}

read_result tree_reader::finish() && {
  if (faults_.size() > max_faults) {
    faults_.resize(max_faults);
    report("", 1, "there are more errors than are listed here");
  }
  std::stable_sort(faults_.begin(), faults_.end(),
                   [](const fault& a, const fault& b) { return a.line < b.line; });
  std::array<bool, 2> has_half{};
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const auto& regions : made_.of(half)) has_half[static_cast<std::size_t>(half)] |= !regions.empty();
  if (extends_ && faults_.empty()) made_ = overlay(base_, made_);
  return {std::move(made_), std::move(faults_), has_half};
}

void tree_reader::report(std::string pointer, int line, std::string reason, std::string suggestion) {
  if (faults_.size() <= max_faults)
    faults_.push_back({file_->name, std::move(pointer), line, std::move(reason), std::move(suggestion)});
}

bool tree_reader::expect(const json::value& v, json::value::type is, const std::string& pointer,
                         std::string_view what) {
  if (v.is == is) return true;
  report(pointer, v.line, json::wrong_kind(v, is, what));
  return false;
}

void tree_reader::validate_keys(const json::value& object, const std::string& pointer,
                                std::span<const std::string_view> known, std::string_view noun) {
  std::vector<std::string_view> seen;
  for (const json::value::key& k : object.keys) {
    if (std::find(seen.begin(), seen.end(), k.name) != seen.end()) {
      report(child_pointer(pointer, k.name), k.line, quoted(k.name) + " is given twice",
             "remove one of them");
      continue;
    }
    seen.push_back(k.name);
    if (!known.empty() && std::find(known.begin(), known.end(), k.name) == known.end())
      report(child_pointer(pointer, k.name), k.line,
             "there is no " + std::string(noun) + " " + quoted(k.name) + " here", suggest(k.name, known));
  }
}

void tree_reader::read_document(const json::value& v) {
  if (!expect(v, json::value::type::object, "", "a document")) return;
  if (is_mpich_selection_file(v))
    return report(
        "", v.line,
        "this is a selection file of MPICH (MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE), not a tree of tutti",
        "tutti import mpich FILE converts it");
  static constexpr std::string_view keys[] = {"schema",     "extends",     "machine",
                                              "conditions", "composition", "pure"};
  validate_keys(v, "", keys);
  if (const json::value* schema = member(v, "schema"); schema == nullptr)
    report("", v.line, "the key \"schema\" is missing", "\"schema\": " + quoted(schema_name));
  else if (expect(*schema, json::value::type::text, "/schema", "the schema") && schema->text != schema_name)
    report("/schema", schema->line, "the schema " + quoted(schema->text) + " is unknown",
           "write " + quoted(schema_name));
  if (const json::value* extends = member(v, "extends")) read_extends(*extends);
  if (const json::value* machine = member(v, "machine")) read_machine(*machine);
  if (const json::value* conditions = member(v, "conditions")) read_conditions(*conditions);
  const json::value *composition = member(v, "composition"), *pure = member(v, "pure");
  if (composition != nullptr) read_half(*composition, tree_half::composition, "/composition");
  if (pure != nullptr) read_half(*pure, tree_half::pure, "/pure");
  if (extends_ || pure != nullptr) return;
  if (required_ == extent::whole)
    report("", v.line, "the tree \"pure\" is missing",
           "a whole document has a pure tree for every collective");
  else if (composition == nullptr)
    report("", v.line, "there is neither a tree \"composition\" nor a tree \"pure\"");
}

void tree_reader::read_extends(const json::value& v) {
  extends_ = true;
  if (!expect(v, json::value::type::text, "/extends", "\"extends\"")) return;
  const std::string& name = v.text;
  if (std::find(chain_.begin(), chain_.end(), name) != chain_.end()) {
    std::string circle;
    for (const std::string& one : chain_) circle += quoted(one) + " extends ";
    return report("/extends", v.line, "templates form a cycle: " + circle + quoted(name),
                  "extend another, or none");
  }
  const std::string_view text = templates_(name);
  if (text.empty()) {
    return report("/extends", v.line, "there is no built-in tree " + quoted(name) + " to extend",
                  suggest(name, builtin_tree_names()));
  }
  std::vector<std::string> chain = chain_;
  chain.push_back(name);
  tree_reader template_reader("trees/" + name + ".json", required_, true, templates_, std::move(chain));
  template_reader.read(text);
  read_result got = std::move(template_reader).finish();
  if (!got.good())
    return report("/extends", v.line, "the template " + quoted(name) + " is invalid",
                  got.faults.front().text());
  base_ = std::move(got.made);
  made_.conditions = base_.conditions;
}

void tree_reader::read_conditions(const json::value& v) {
  if (!expect(v, json::value::type::object, "/conditions", "the value of \"conditions\"")) return;
  validate_keys(v, "/conditions", {});
  std::size_t declared_count = 0;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const std::string& name = v.keys[i].name;
    const std::string here = child_pointer("/conditions", name);
    if (!expect(v.items[i], json::value::type::text, here, "the meaning of a condition")) continue;
    if (find_condition(name)) {
      report(here, v.keys[i].line, quoted(name) + " is a condition of the library, which this would hide",
             "remove it");
    } else if (find_quantity(name)) {
      report(here, v.keys[i].line, quoted(name) + " is a quantity, not a condition",
             "write \"by\": " + quoted(name) + " with \"steps\"");
    } else if (!is_name(name)) {
      report(here, v.keys[i].line, quoted(name) + " is not a valid name of a condition",
             "use letters a to z, digits and _, at most 60 characters");
    } else if (!find_condition(name, made_.conditions)) {
      if (declared_count++ == max_declared_per_document)
        report(
            here, v.keys[i].line,
            "there are more than " + std::to_string(max_declared_per_document) + " conditions of the engine");
      if (declared_count <= max_declared_per_document) made_.conditions.push_back({name, v.items[i].text});
    }
  }
}

void tree_reader::read_machine(const json::value& v) {
  if (!expect(v, json::value::type::object, "/machine", "the machine")) return;
  validate_keys(v, "/machine", {});
  for (std::size_t i = 0; i < v.items.size(); ++i)
    if (expect(v.items[i], json::value::type::text, child_pointer("/machine", v.keys[i].name),
               "a property of the machine"))
      made_.machine[v.keys[i].name] = v.items[i].text;
}

void tree_reader::read_half(const json::value& v, tree_half half, const std::string& pointer) {
  if (!expect(v, json::value::type::object, pointer, "a tree")) return;
  validate_keys(v, pointer, collective_names, "collective");
  for (std::size_t c = 0; c < collective_names.size(); ++c) {
    const json::value* list = member(v, collective_names[c]);
    if (list != nullptr)
      read_regions(*list, half, static_cast<collective>(c), child_pointer(pointer, collective_names[c]));
    else if (required_ == extent::whole && half == tree_half::pure && !extends_)
      report(pointer, v.line, "there is no tree for " + std::string(collective_names[c]),
             "a whole document has a pure tree for every collective");
  }
}

void tree_reader::read_regions(const json::value& v, tree_half half, collective what,
                               const std::string& pointer) {
  if (!expect(v, json::value::type::list, pointer, "the tree of a collective")) return;
  if (v.items.empty()) return report(pointer, v.line, "the list of regions is empty");
  if (v.items.size() > max_regions)
    return report(pointer, v.line, "there are more than " + std::to_string(max_regions) + " regions");
  std::vector<tree_region> regions;
  std::vector<region_place> places;
  bool understood = true;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const json::value& item = v.items[i];
    const std::string here = child_pointer(pointer, i);
    if (!expect(item, json::value::type::object, here, "a region")) {
      understood = false;
      continue;
    }
    static constexpr std::string_view keys[] = {"when", "by", "steps", "use", "with"};
    validate_keys(item, here, keys);
    tree_region r;
    r.from = {file_, item.line};
    region_place place{{}, {}, here, item.line};
    if (const json::value* when = member(item, "when"))
      understood = read_when(*when, child_pointer(here, "when"), r.when) && understood;
    place.when = r.when;
    when_ = r.when;
    r.then = read_node(item, half, what, here, all_values(what, when_), place.leaves);
    regions.push_back(std::move(r));
    places.push_back(std::move(place));
  }
  if (understood)
    for (found_fault& f :
         prove_legal(places, what, required_ == extent::whole && !extends_, made_.conditions))
      report(f.pointer.empty() ? pointer : std::move(f.pointer), f.line == 0 ? v.line : f.line,
             std::move(f.reason), std::move(f.suggestion));
  (half == tree_half::pure ? made_.pure : made_.composition)[static_cast<std::size_t>(what)] =
      std::move(regions);
}

bool tree_reader::read_when(const json::value& v, const std::string& pointer, literals& when) {
  if (!expect(v, json::value::type::object, pointer, "\"when\"")) return false;
  validate_keys(v, pointer, {});
  bool good = true;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const std::string& name = v.keys[i].name;
    const std::string here = child_pointer(pointer, name);
    const auto known = find_condition(name, made_.conditions);
    if (!known && find_quantity(name)) {
      report(here, v.keys[i].line, quoted(name) + " is a quantity, not a condition",
             "write \"by\": " + quoted(name) + " with \"steps\"");
    } else if (!known) {
      std::vector<std::string_view> names;
      for (const condition_entry& e : conditions()) names.push_back(e.name);
      for (const declared_condition& c : made_.conditions) names.push_back(c.name);
      std::string advice = suggest(name, names);
      if (closest(name, names).empty()) advice += "; declare conditions of the engine under \"conditions\"";
      report(here, v.keys[i].line, "there is no condition " + quoted(name), std::move(advice));
    } else if (v.items[i].is != json::value::type::boolean) {
      expect(v.items[i], json::value::type::boolean, here, "a condition");
    } else {
      // validate_keys has reported a duplicate key already.
      if (when.mask & bit(*known)) good = false;
      when.demand(*known, v.items[i].truth);
      continue;
    }
    good = false;
  }
  return good;
}

std::string fault::text() const {
  return echoed(file) + ":" + std::to_string(line) + ": " + (pointer.empty() ? "" : echoed(pointer) + ": ") +
         reason + (suggestion.empty() ? "" : " (" + suggestion + ")");
}

read_result read_tree(std::string_view text, std::string_view file, extent required, bool builtin,
                      template_source templates) noexcept {
  try {
    tree_reader r(file, required, builtin, templates);
    r.read(text);
    return std::move(r).finish();
  } catch (...) {  // only std::bad_alloc is possible
    read_result failed;
    failed.faults.push_back({std::string(file), "", 1, "not enough memory", ""});
    return failed;
  }
}

}  // namespace tutti::detail
