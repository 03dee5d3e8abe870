// SPDX-License-Identifier: Apache-2.0
//
// Reads a document: what is written in it, names, types and order. Where the conditions of a collective's
// regions are understood, prove_tree.hpp says whether they mean something legal.
#include <algorithm>
#include <optional>

#include "core/environment.hpp"
#include "select/json.hpp"
#include "select/nearest.hpp"
#include "select/prove_tree.hpp"
#include "select/tree.hpp"

namespace tutti {
namespace {

constexpr std::string_view schema_name = "tutti/tree/1";
constexpr std::size_t longest_text = std::size_t{4} << 20, most_regions = 256, most_faults = 1000;
constexpr std::uint64_t greatest_threshold = std::uint64_t{1} << 62;

std::string below(const std::string& pointer, std::string_view key) {
  std::string text = pointer + "/";
  for (const char c : key) c == '~' ? text += "~0" : c == '/' ? text += "~1" : text += c;
  return text;
}
std::string below(const std::string& pointer, std::size_t i) { return pointer + "/" + std::to_string(i); }

class reader {
 public:
  reader(std::string_view file, extent how_much, bool builtin)
      : file_(std::make_shared<const tree_file>(tree_file{std::string(file), builtin})),
        how_much_(how_much) {}

  void read(std::string_view text) {
    if (text.size() > longest_text)
      return say("", 1, "the text is longer than " + std::to_string(longest_text >> 20) + " MiB");
    if (const auto zero = text.find('\0'); zero != text.npos)
      return say("",
                 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(zero), '\n')),
                 "there is a zero byte in the text");
    json::parsed parsed = json::parse(text);
    if (!parsed.good) return say("", parsed.line, parsed.problem);
    read_document(parsed.root);
  }

  read_result finish() && {
    if (faults_.size() > most_faults) {
      faults_.resize(most_faults);
      say("", 1, "there are more faults than are told here");
    }
    std::stable_sort(faults_.begin(), faults_.end(),
                     [](const fault& a, const fault& b) { return a.line < b.line; });
    return {std::move(made_), std::move(faults_)};
  }

 private:
  struct range {
    std::uint64_t least, most;
  };
  using ranges = std::array<range, quantity_count>;

  void say(std::string pointer, int line, std::string reason, std::string suggestion = "") {
    if (faults_.size() <= most_faults)
      faults_.push_back({file_->name, std::move(pointer), line, std::move(reason), std::move(suggestion)});
  }
  bool expect(const json::value& v, json::value::type is, const std::string& pointer, std::string_view what) {
    if (v.is == is) return true;
    json::value wanted;
    wanted.is = is;
    say(pointer, v.line,
        std::string(what) + " is " + std::string(json::kind(wanted)) + ", not " + std::string(json::kind(v)));
    return false;
  }
  // Members that `known` has not, and members given twice.
  void check_keys(const json::value& object, const std::string& pointer,
                  std::span<const std::string_view> known, std::string_view noun = "key") {
    std::vector<std::string_view> seen;
    for (const json::value::key& k : object.keys) {
      if (std::find(seen.begin(), seen.end(), k.name) != seen.end()) {
        say(below(pointer, k.name), k.line, quoted(k.name) + " is given twice", "take one of them out");
        continue;
      }
      seen.push_back(k.name);
      if (!known.empty() && std::find(known.begin(), known.end(), k.name) == known.end())
        say(below(pointer, k.name), k.line,
            "there is no " + std::string(noun) + " " + quoted(k.name) + " here", suggest(k.name, known));
    }
  }
  static const json::value* member(const json::value& object, std::string_view key) {
    for (std::size_t i = 0; i < object.keys.size(); ++i)
      if (object.keys[i].name == key) return &object.items[i];
    return nullptr;
  }

  // --- what is written

  void read_document(const json::value& v) {
    if (!expect(v, json::value::type::object, "", "a document")) return;
    static constexpr std::string_view known[] = {"schema", "machine", "composition", "pure"};
    check_keys(v, "", known);
    if (const json::value* schema = member(v, "schema"); schema == nullptr)
      say("", v.line, "the key \"schema\" is missing", "\"schema\": " + quoted(schema_name));
    else if (expect(*schema, json::value::type::text, "/schema", "the schema") && schema->text != schema_name)
      say("/schema", schema->line, "the schema " + quoted(schema->text) + " is not known here",
          "write " + quoted(schema_name));
    if (const json::value* machine = member(v, "machine")) read_machine(*machine);
    const json::value *composition = member(v, "composition"), *pure = member(v, "pure");
    if (composition != nullptr) read_half(*composition, tree_half::composition, "/composition");
    if (pure != nullptr) read_half(*pure, tree_half::pure, "/pure");
    if (how_much_ == extent::whole && pure == nullptr)
      say("", v.line, "the tree \"pure\" is missing",
          "a whole document has a pure tree for every collective");
    if (pure == nullptr && composition == nullptr && how_much_ == extent::partial)
      say("", v.line, "there is neither a tree \"composition\" nor a tree \"pure\"");
  }

  void read_machine(const json::value& v) {
    if (!expect(v, json::value::type::object, "/machine", "the machine")) return;
    check_keys(v, "/machine", {});
    for (std::size_t i = 0; i < v.items.size(); ++i)
      if (expect(v.items[i], json::value::type::text, below("/machine", v.keys[i].name),
                 "what is said of the machine"))
        made_.machine[v.keys[i].name] = v.items[i].text;
  }

  void read_half(const json::value& v, tree_half half, const std::string& pointer) {
    if (!expect(v, json::value::type::object, pointer, "a tree")) return;
    check_keys(v, pointer, collective_names, "collective");
    for (std::size_t c = 0; c < collective_names.size(); ++c) {
      const json::value* list = member(v, collective_names[c]);
      if (list != nullptr)
        read_regions(*list, half, static_cast<collective>(c), below(pointer, collective_names[c]));
      else if (how_much_ == extent::whole && half == tree_half::pure)
        say(pointer, v.line, "there is nothing for " + std::string(collective_names[c]),
            "a whole document has a pure tree for every collective");
    }
  }

  void read_regions(const json::value& v, tree_half half, collective what, const std::string& pointer) {
    if (!expect(v, json::value::type::list, pointer, "what is said of a collective")) return;
    if (v.items.empty()) return say(pointer, v.line, "the list of regions is empty");
    if (v.items.size() > most_regions)
      return say(pointer, v.line, "there are more than " + std::to_string(most_regions) + " regions");
    std::vector<tree_region> regions;
    std::vector<region_place> places;
    bool understood = true;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      const json::value& item = v.items[i];
      const std::string here = below(pointer, i);
      if (!expect(item, json::value::type::object, here, "a region")) {
        understood = false;
        continue;
      }
      static constexpr std::string_view known[] = {"when", "by", "steps", "use", "with"};
      check_keys(item, here, known);
      tree_region r;
      r.from = {file_, item.line};
      region_place place{{}, {}, here, item.line};
      if (const json::value* when = member(item, "when"))
        understood = read_when(*when, below(here, "when"), r.when) && understood;
      place.when = r.when;
      r.then = read_node(item, half, what, here, everything(), place.leaves);
      regions.push_back(std::move(r));
      places.push_back(std::move(place));
    }
    if (understood)
      for (found_fault& f : prove_legal(places, what, how_much_ == extent::whole))
        say(f.pointer.empty() ? pointer : std::move(f.pointer), f.line == 0 ? v.line : f.line,
            std::move(f.reason), std::move(f.suggestion));
    (half == tree_half::pure ? made_.pure : made_.composition)[static_cast<std::size_t>(what)] =
        std::move(regions);
  }

  bool read_when(const json::value& v, const std::string& pointer, literals& when) {
    if (!expect(v, json::value::type::object, pointer, "\"when\"")) return false;
    check_keys(v, pointer, {});
    bool good = true;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      const std::string& name = v.keys[i].name;
      const std::string here = below(pointer, name);
      const auto known = find_condition(name);
      if (!known && find_quantity(name)) {
        say(here, v.keys[i].line, quoted(name) + " is a quantity, no condition",
            "write \"by\": " + quoted(name) + " with \"steps\"");
      } else if (!known) {
        std::vector<std::string_view> names;
        for (const condition_entry& e : conditions()) names.push_back(e.name);
        say(here, v.keys[i].line, "there is no condition " + quoted(name), suggest(name, names));
      } else if (v.items[i].is != json::value::type::boolean) {
        expect(v.items[i], json::value::type::boolean, here, "a condition");
      } else {
        // A key that is given twice has been told.
        if (when.mask & bit(*known)) good = false;
        when.demand(*known, v.items[i].truth);
        continue;
      }
      good = false;
    }
    return good;
  }

  static ranges everything() {
    ranges all;
    for (const quantity_entry& e : quantities())
      all[static_cast<std::size_t>(e.which)] = {e.least, tree_step::open};
    return all;
  }

  tree_node read_node(const json::value& v, tree_half half, collective what, const std::string& pointer,
                      ranges within, std::vector<leaf_place>& leaves) {
    tree_node made;
    const json::value *use = member(v, "use"), *with = member(v, "with"), *by = member(v, "by"),
                      *steps = member(v, "steps");
    if (use != nullptr && (by != nullptr || steps != nullptr)) {
      say(pointer, v.line, "\"use\" and \"by\" exclude each other", "take one of them out");
      return made;
    }
    if (use != nullptr) {
      leaf_place place{{}, below(pointer, "use"), use->line};
      place.use.from = {file_, use->line};
      const bool named = read_use(*use, half, what, place.pointer, place.use);
      const bool given = with == nullptr || read_with(*with, below(pointer, "with"), named, place.use);
      made.use = place.use;
      if (named && given) leaves.push_back(std::move(place));
      return made;
    }
    if (with != nullptr) say(below(pointer, "with"), with->line, "\"with\" goes together with \"use\" only");
    if (by == nullptr && steps == nullptr) {
      say(pointer, v.line, "there is nothing to choose here: neither \"use\" nor \"by\" with \"steps\"");
      return made;
    }
    if (by == nullptr || steps == nullptr) {
      say(pointer, v.line,
          by == nullptr ? "\"steps\" needs \"by\", the quantity that they divide" : "\"by\" needs \"steps\"");
      return made;
    }
    std::optional<quantity> divided;
    if (expect(*by, json::value::type::text, below(pointer, "by"), "\"by\"")) {
      divided = find_quantity(by->text);
      if (!divided && find_condition(by->text)) {
        say(below(pointer, "by"), by->line, quoted(by->text) + " is a condition, no quantity",
            "write it into \"when\"");
      } else if (!divided) {
        std::vector<std::string_view> names;
        for (const quantity_entry& e : quantities()) names.push_back(e.name);
        say(below(pointer, "by"), by->line, "there is no quantity " + quoted(by->text),
            suggest(by->text, names));
      }
    }
    if (expect(*steps, json::value::type::list, below(pointer, "steps"), "\"steps\""))
      read_steps(*steps, half, what, below(pointer, "steps"), divided, within, made, leaves);
    return made;
  }

  void read_steps(const json::value& v, tree_half half, collective what, const std::string& pointer,
                  std::optional<quantity> by, ranges within, tree_node& made,
                  std::vector<leaf_place>& leaves) {
    if (v.items.empty()) return say(pointer, v.line, "the list of steps is empty");
    made.by = by.value_or(quantity::bytes);
    std::optional<std::uint64_t> before;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      const json::value& item = v.items[i];
      const std::string here = below(pointer, i);
      if (!expect(item, json::value::type::object, here, "a step")) continue;
      static constexpr std::string_view known[] = {"upto", "by", "steps", "use", "with"};
      check_keys(item, here, known);
      const json::value* upto = member(item, "upto");
      const bool last = i + 1 == v.items.size();
      tree_step s;
      s.from = {file_, item.line};
      bool placed = by.has_value();
      if (upto == nullptr && !last) {
        say(here, item.line, "only the last step is open: this one needs \"upto\"");
        placed = false;
      } else if (upto != nullptr) {
        const auto number = read_threshold(*upto, below(here, "upto"));
        if (last)
          say(below(here, "upto"), upto->line,
              "the last step must be open: greater values are served by none",
              "take \"upto\" out, or add a step without it");
        if (number && before && *number <= *before)
          say(below(here, "upto"), upto->line,
              "steps ascend: " + std::to_string(*number) + " comes after " + std::to_string(*before));
        placed = placed && number && !(before && *number <= *before) && !last;
        if (number) s.upto = *number;
      }
      ranges inner = within;
      if (placed) {
        range& r = inner[static_cast<std::size_t>(*by)];
        if (before) r.least = std::max(r.least, *before + 1);
        r.most = std::min(r.most, s.upto);
        if (r.least > r.most)
          say(here, item.line,
              "this step can never be reached: " + std::string(name_of(*by)) + " is " +
                  between(within[static_cast<std::size_t>(*by)]) + " here");
      }
      if (s.upto != tree_step::open) before = s.upto;
      s.then = read_node(item, half, what, here, inner, leaves);
      made.steps.push_back(std::move(s));
    }
  }

  static std::string between(const range& r) {
    return r.most == tree_step::open ? std::to_string(r.least) + " or more"
                                     : "from " + std::to_string(r.least) + " to " + std::to_string(r.most);
  }

  std::optional<std::uint64_t> read_threshold(const json::value& v, const std::string& pointer) {
    return read_value(v, pointer, "\"upto\"", 0, greatest_threshold);
  }

  // A number, or a text as "64K".
  std::optional<std::uint64_t> read_value(const json::value& v, const std::string& pointer,
                                          const std::string& name, std::uint64_t least, std::uint64_t most) {
    std::optional<std::uint64_t> number;
    if (v.is == json::value::type::text) {
      number = read_number(v.text);
      if (!number) {
        say(pointer, v.line, name + " is " + quoted(v.text) + ", which is no number, or too large",
            "write it as 65536 or \"64K\"");
        return std::nullopt;
      }
    } else if (v.is != json::value::type::number) {
      say(pointer, v.line, name + " is a number, not " + std::string(json::kind(v)));
      return std::nullopt;
    } else if (!v.whole) {
      say(pointer, v.line, name + " is " + v.text + ", which is negative, a fraction, or too large");
      return std::nullopt;
    } else {
      number = v.number;
    }
    if (*number < least || *number > most) {
      say(pointer, v.line, name + " is " + std::to_string(*number) + ", out of range",
          "from " + std::to_string(least) + " to " + std::to_string(most));
      return std::nullopt;
    }
    return number;
  }

  bool read_use(const json::value& v, tree_half half, collective what, const std::string& pointer,
                leaf& made) {
    if (!expect(v, json::value::type::text, pointer, "\"use\"")) return false;
    if (half == tree_half::composition) {
      made.what = leaf::kind::pure;
      if (v.text == "@pure") return true;
      static constexpr std::string_view known[] = {"@pure"};
      say(pointer, v.line, "there is no composition " + quoted(v.text), suggest(v.text, known));
      return false;
    }
    if (v.text == "native") return true;
    if (v.text == "@pure") {
      say(pointer, v.line, "\"@pure\" may stand in the composition tree only",
          "name an algorithm, or \"native\"");
      return false;
    }
    if (const pure_algorithm* a = find_algorithm(what, v.text)) {
      made.what = leaf::kind::algorithm;
      made.chosen = choice(a);
      return true;
    }
    std::vector<std::string_view> names;
    for (const pure_algorithm* a : catalogue())
      if (a->what == what) names.push_back(a->short_name());
    names.push_back("native");
    say(pointer, v.line, std::string(name_of(what)) + " has no algorithm " + quoted(v.text),
        suggest(v.text, names));
    return false;
  }

  bool read_with(const json::value& v, const std::string& pointer, bool named, leaf& made) {
    if (!expect(v, json::value::type::object, pointer, "\"with\"")) return false;
    check_keys(v, pointer, {});
    if (!named) return false;
    const std::span<const knob_range> parameters =
        made.what == leaf::kind::algorithm ? made.chosen.pure->parameters : std::span<const knob_range>();
    bool good = true;
    for (std::size_t i = 0; i < v.items.size(); ++i) {
      const std::string& name = v.keys[i].name;
      const std::string here = below(pointer, name);
      const knob_range* found = nullptr;
      std::vector<std::string_view> names;
      for (const knob_range& p : parameters) {
        names.push_back(name_of(p.which));
        if (name_of(p.which) == name) found = &p;
      }
      const std::string_view user = made.what == leaf::kind::algorithm ? made.chosen.pure->name
                                    : made.what == leaf::kind::native  ? "native"
                                                                       : "@pure";
      if (found == nullptr) {
        say(here, v.keys[i].line, std::string(user) + " has no parameter " + quoted(name),
            names.empty() ? "it has none" : suggest(name, names));
        good = false;
      } else if (const auto number = read_value(v.items[i], here, quoted(name), found->least, found->most)) {
        made.chosen.knobs[static_cast<std::size_t>(found->which)] = static_cast<std::uint32_t>(*number);
      } else {
        good = false;
      }
    }
    return good;
  }

  std::shared_ptr<const tree_file> file_;
  extent how_much_;
  document made_;
  std::vector<fault> faults_;
};

}  // namespace

std::string fault::text() const {
  return file + ":" + std::to_string(line) + ": " + (pointer.empty() ? "" : pointer + ": ") + reason +
         (suggestion.empty() ? "" : " (" + suggestion + ")");
}

read_result read_tree(std::string_view text, std::string_view file, extent how_much, bool builtin) noexcept {
  try {
    reader r(file, how_much, builtin);
    r.read(text);
    return std::move(r).finish();
  } catch (...) {  // there is nothing but memory to run out of
    read_result failed;
    failed.faults.push_back({std::string(file), "", 1, "not enough memory", ""});
    return failed;
  }
}

}  // namespace tutti
