// SPDX-License-Identifier: Apache-2.0
//
// Reads the content of a region: thresholds, choices and their parameters.
#include "base/environment_variables.hpp"
#include "selection/suggestion.hpp"
#include "selection/tree_reader.hpp"

namespace tutti::detail {
namespace {

constexpr std::uint64_t max_threshold = std::uint64_t{1} << 62;

}  // namespace

std::string tree_reader::range_text(const value_range& r) {
  if (r.min == r.max) return std::to_string(r.min);
  return r.max == tree_step::open ? std::to_string(r.min) + " or more"
                                  : "from " + std::to_string(r.min) + " to " + std::to_string(r.max);
}

tree_node tree_reader::read_node(const json::value& v, tree_half half, collective what,
                                 const std::string& pointer, const value_ranges& within,
                                 std::vector<leaf_place>& leaves) {
  tree_node made;
  const json::value *use = member(v, "use"), *with = member(v, "with"), *by = member(v, "by"),
                    *steps = member(v, "steps");
  if (use != nullptr && (by != nullptr || steps != nullptr)) {
    report(pointer, v.line, "\"use\" and \"by\" exclude each other", "remove one of them");
    return made;
  }
  if (use != nullptr) {
    leaf_place place{{}, child_pointer(pointer, "use"), use->line};
    place.use.from = {file_, use->line};
    const bool named = read_use(*use, half, what, place.pointer, place.use);
    const bool given = with == nullptr || read_with(*with, child_pointer(pointer, "with"), named, place.use);
    made.use = place.use;
    if (named && given) leaves.push_back(std::move(place));
    return made;
  }
  if (with != nullptr)
    report(child_pointer(pointer, "with"), with->line, "\"with\" is allowed only with \"use\"");
  if (by == nullptr && steps == nullptr) {
    report(pointer, v.line, "there is nothing to choose: neither \"use\" nor \"by\" with \"steps\"");
    return made;
  }
  if (by == nullptr || steps == nullptr) {
    report(
        pointer, v.line,
        by == nullptr ? "\"steps\" needs \"by\", the quantity that they divide" : "\"by\" needs \"steps\"");
    return made;
  }
  const std::optional<quantity> divided = read_quantity(*by, child_pointer(pointer, "by"));
  if (expect(*steps, json::value::type::list, child_pointer(pointer, "steps"), "\"steps\""))
    read_steps(*steps, half, what, child_pointer(pointer, "steps"), divided, within, made, leaves);
  return made;
}

std::optional<quantity> tree_reader::read_quantity(const json::value& v, const std::string& pointer) {
  if (!expect(v, json::value::type::text, pointer, "\"by\"")) return std::nullopt;
  const std::optional<quantity> found = find_quantity(v.text);
  if (!found && find_condition(v.text, made_.conditions)) {
    report(pointer, v.line, quoted(v.text) + " is a condition, not a quantity", "write it in \"when\"");
  } else if (!found) {
    std::vector<std::string_view> names;
    for (const quantity_entry& e : quantities()) names.push_back(e.name);
    report(pointer, v.line, "there is no quantity " + quoted(v.text), suggest(v.text, names));
  }
  return found;
}

bool tree_reader::report_unreachable(const std::string& pointer, int line, collective what, quantity by,
                                     const value_ranges& within, const value_ranges& inner) {
  const auto q = static_cast<std::size_t>(by);
  const std::string name(name_of(by)), never = "this step can never be reached: ";
  if (!possible(what, when_, within)) return false;  // the region itself is at fault
  if (inner[q].empty()) {
    const std::string_view why = within[q].max == 0 ? why_unknown(by, what, when_) : "";
    report(pointer, line,
           never + name + " is " + range_text(within[q]) + " here" +
               (why.empty() ? "" : ", because " + std::string(why)),
           why.empty() ? "" : "divide by another quantity, or name one algorithm");
    return true;
  }
  if (possible(what, when_, inner)) return false;
  report(pointer, line, never + "no call that reaches this step has " + name + " " + range_text(inner[q]));
  return true;
}

void tree_reader::read_steps(const json::value& v, tree_half half, collective what,
                             const std::string& pointer, std::optional<quantity> by,
                             const value_ranges& within, tree_node& made, std::vector<leaf_place>& leaves) {
  if (v.items.empty()) return report(pointer, v.line, "the list of steps is empty");
  made.by = by.value_or(quantity::bytes);
  std::optional<std::uint64_t> before;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const json::value& item = v.items[i];
    const std::string here = child_pointer(pointer, i);
    if (!expect(item, json::value::type::object, here, "a step")) continue;
    static constexpr std::string_view keys[] = {"upto", "by", "steps", "use", "with"};
    validate_keys(item, here, keys);
    const json::value* upper_bound = member(item, "upto");
    const bool last = i + 1 == v.items.size();
    tree_step s;
    s.from = {file_, item.line};
    bool placed = by.has_value();
    if (upper_bound == nullptr && !last) {
      report(here, item.line, "only the last step is open: this one needs \"upto\"");
      placed = false;
    } else if (upper_bound != nullptr) {
      const auto number = read_value(*upper_bound, child_pointer(here, "upto"), "\"upto\"", 0, max_threshold);
      if (last)
        report(child_pointer(here, "upto"), upper_bound->line,
               "the last step must be open: no step serves larger values",
               "remove \"upto\", or add a step without it");
      if (number && before && *number <= *before)
        report(child_pointer(here, "upto"), upper_bound->line,
               "steps must ascend: " + std::to_string(*number) + " comes after " + std::to_string(*before));
      placed = placed && number && !(before && *number <= *before) && !last;
      if (number) s.upper_bound = *number;
    }
    value_ranges inner = within;
    if (placed) {
      value_range& r = inner[static_cast<std::size_t>(*by)];
      if (before) r.min = std::max(r.min, *before + 1);
      r.max = std::min(r.max, s.upper_bound);
      // After an unreachable step the bounds are reset, so that its inner steps are not reported
      // too.
      if (report_unreachable(here, item.line, what, *by, within, inner)) inner = all_values(what, when_);
    }
    if (s.upper_bound != tree_step::open) before = s.upper_bound;
    s.then = read_node(item, half, what, here, inner, leaves);
    made.steps.push_back(std::move(s));
  }
}

std::optional<std::uint64_t> tree_reader::read_value(const json::value& v, const std::string& pointer,
                                                     const std::string& name, std::uint64_t min,
                                                     std::uint64_t max) {
  std::optional<std::uint64_t> number;
  if (v.is == json::value::type::text) {
    number = read_number(v.text);
    if (!number) {
      report(pointer, v.line, name + " is " + quoted(v.text) + ", which is not a number or is too large",
             "write it as 65536 or \"64K\"");
      return std::nullopt;
    }
  } else if (v.is != json::value::type::number) {
    report(pointer, v.line, name + " must be a number, not " + std::string(json::kind(v)));
    return std::nullopt;
  } else if (!v.is_unsigned) {
    report(pointer, v.line, name + " is " + v.text + ", which is negative, a fraction or too large");
    return std::nullopt;
  } else {
    number = v.number;
  }
  if (*number < min || *number > max) {
    report(pointer, v.line, name + " is " + std::to_string(*number) + ", out of range",
           "from " + std::to_string(min) + " to " + std::to_string(max));
    return std::nullopt;
  }
  return number;
}

bool tree_reader::read_use(const json::value& v, tree_half half, collective what, const std::string& pointer,
                           leaf& made) {
  if (!expect(v, json::value::type::text, pointer, "\"use\"")) return false;
  return half == tree_half::composition ? use_composition(v, what, pointer, made)
                                        : use_algorithm(v, what, pointer, made);
}

bool tree_reader::use_composition(const json::value& v, collective what, const std::string& pointer,
                                  leaf& made) {
  made.what = leaf::kind::pure;
  if (is_null_composition(v.text)) return true;
  if (const composed_algorithm* c = find_composition(what, v.text)) {
    made.what = leaf::kind::composed;
    made.composed = composed_choice(c);
    return true;
  }
  if (v.text == "native" || find_algorithm(what, v.text) != nullptr) {
    report(pointer, v.line, quoted(v.text) + " is a pure algorithm, not a composition",
           "write \"@pure\" here, and name it in the tree \"pure\"");
    return false;
  }
  std::vector<std::string_view> names = {"@pure"};
  for (const composed_algorithm* c : composition_catalogue())
    if (c->what == what) names.push_back(c->short_name());
  report(pointer, v.line, std::string(name_of(what)) + " has no composition " + quoted(v.text),
         suggest(v.text, names));
  return false;
}

bool tree_reader::use_algorithm(const json::value& v, collective what, const std::string& pointer,
                                leaf& made) {
  if (v.text == "native") return true;
  if (v.text == "@pure") {
    report(pointer, v.line, "\"@pure\" is allowed only in the composition tree",
           "name an algorithm, or \"native\"");
    return false;
  }
  if (const pure_algorithm* a = find_algorithm(what, v.text)) {
    made.what = leaf::kind::algorithm;
    made.chosen = choice(a);
    return true;
  }
  if (find_composition(what, v.text) != nullptr) {
    report(pointer, v.line, quoted(v.text) + " is a composition, not a pure algorithm",
           "name it in the tree \"composition\"");
    return false;
  }
  std::vector<std::string_view> names;
  for (const pure_algorithm* a : catalogue())
    if (a->what == what) names.push_back(a->short_name());
  names.push_back("native");
  report(pointer, v.line, std::string(name_of(what)) + " has no algorithm " + quoted(v.text),
         suggest(v.text, names));
  return false;
}

bool tree_reader::read_with(const json::value& v, const std::string& pointer, bool named, leaf& made) {
  if (!expect(v, json::value::type::object, pointer, "\"with\"")) return false;
  validate_keys(v, pointer, {});
  if (!named) return false;
  const catalogue_entry* const entry = made.named();
  algorithm_parameter_values& parameter_values =
      made.what == leaf::kind::composed ? made.composed.parameter_values : made.chosen.parameter_values;
  const std::string_view owner = entry != nullptr                  ? entry->name
                                 : made.what == leaf::kind::native ? "native"
                                                                   : "@pure";
  bool good = true;
  for (std::size_t i = 0; i < v.items.size(); ++i) {
    const std::string& name = v.keys[i].name;
    const std::string here = child_pointer(pointer, name);
    const algorithm_parameter_range* found = nullptr;
    std::vector<std::string_view> names;
    for (const algorithm_parameter_range& p :
         entry != nullptr ? entry->parameters : std::span<const algorithm_parameter_range>()) {
      names.push_back(name_of(p.which));
      if (name_of(p.which) == name) found = &p;
    }
    if (found == nullptr) {
      report(here, v.keys[i].line, std::string(owner) + " has no parameter " + quoted(name),
             names.empty() ? "it has none" : suggest(name, names));
      good = false;
    } else if (const auto number = read_value(v.items[i], here, quoted(name), found->min, found->max)) {
      parameter_values[static_cast<std::size_t>(found->which)] = static_cast<std::uint32_t>(*number);
    } else {
      good = false;
    }
  }
  return good;
}

}  // namespace tutti::detail
