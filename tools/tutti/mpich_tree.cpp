// SPDX-License-Identifier: Apache-2.0
#include "mpich_tree.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "selection/json.hpp"
#include "selection/suggestion.hpp"
#include "selection/truth_set.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tool {
namespace {

using json::value;

// Splits "comm_size <= 8" into "comm_size", "<=" and "8".
struct key {
  std::string name, relation, operand;

  explicit key(std::string_view text) {
    std::string all;
    for (const char c : text)
      if (c != ' ' && c != '\t') all += c;
    const std::size_t at = all.find_first_of("<=");
    name = all.substr(0, at);
    if (at == all.npos) return;
    const std::size_t operand_begin = all.compare(at, 2, "<=") == 0 ? at + 2 : at + 1;
    relation = all.substr(at, operand_begin - at);
    operand = all.substr(operand_begin);
  }
};

// The test that a key makes on a call.
struct test {
  enum class kind { always, never, condition, threshold } is = kind::never;
  tutti::detail::condition which{};
  bool expected = true;
  quantity by{};
  std::uint64_t upper_bound = 0;

  static test constant(bool holds) { return {holds ? kind::always : kind::never, {}, true, {}, 0}; }
  static test of(tutti::detail::condition c, bool expected) { return {kind::condition, c, expected, {}, 0}; }
  static test of(quantity q, std::uint64_t upper_bound) {
    return {kind::threshold, {}, true, q, upper_bound};
  }
};

struct named_condition {
  std::string_view theirs;
  tutti::detail::condition ours;
};
constexpr named_condition yes_or_no[] = {{"is_commutative", condition::commutative},
                                         {"is_sendbuf_inplace", condition::in_place},
                                         {"is_op_built_in", condition::builtin_op},
                                         {"is_block_regular", condition::block_regular},
                                         {"is_node_consecutive", condition::node_consecutive}};

// Converts the trees of one collective.
class converter {
 public:
  converter(collective what, const std::string& file, std::set<std::pair<int, std::string>>& notes)
      : what_(what), file_(file), notes_(notes) {}

  std::vector<tree_region> convert(const value& root) {
    literals known = fixed_conditions(what_);
    known.demand(condition::inter, false);
    std::vector<tree_region> all;
    for (tree_region& r : regions(root, known))
      for (tree_region& legal : legalized(std::move(r)))
        if (!is_nothing(legal.then)) all.push_back(std::move(legal));
    const literals fixed = fixed_conditions(what_);
    for (tree_region& r : all) {
      r.when.mask &= ~fixed.mask;
      r.when.values &= r.when.mask;
      replace_unknown(r.then, r.when);
    }
    return all;
  }

 private:
  void note(int line, const std::string& text) {
    notes_.emplace(line, std::string(name_of(what_)) + ": " + text);
  }

  // Stands for an algorithm without a counterpart, until it is known whether the region has any
  // other.
  static leaf unknown() {
    leaf l;
    l.what = leaf::kind::pure;
    return l;
  }
  static bool is_unknown(const leaf& l) noexcept { return l.what == leaf::kind::pure; }
  static bool is_nothing(const tree_node& n) {
    if (n.is_leaf()) return is_unknown(n.use);
    return std::all_of(n.steps.begin(), n.steps.end(), [](const tree_step& s) { return is_nothing(s.then); });
  }

  bool feasible(const literals& when) const { return truth_set(when.mask, what_).intersects(when); }

  test size_test(const key& k, int line) {
    if (k.operand == "any") return test::constant(true);
    const bool count = k.name == "count";
    if (count && k.operand == "pow2" && k.relation == "<") {
      note(line, "\"count<pow2\" becomes fewer elements than ranks");
      return test::of(condition::count_ge_ranks, false);
    }
    const auto number = read_number(k.operand);
    if (!number || k.relation == "=" || (*number == 0 && k.relation == "<")) return unknown_test(k, line);
    quantity q = count ? quantity::count : quantity::bytes;
    if (k.name == "total_msg_size") q = quantity::total_bytes;
    if (all_values(what_)[static_cast<std::size_t>(q)].max == 0) {
      note(line, fmt::format("\"{}{}{}\" is skipped: not all ranks know this size", k.name, k.relation,
                             echoed(k.operand)));
      return test::constant(false);
    }
    return test::of(q, k.relation == "<" ? *number - 1 : *number);
  }

  test size_of_group(const key& k, int line) {
    if (k.operand == "any") return test::constant(true);
    if (k.operand == "pow2" && k.relation == "=") return test::of(condition::power_of_two, true);
    if (k.operand == "node_comm_size" && k.relation == "=") return test::of(quantity::nodes, 1);
    const auto number = read_number(k.operand);
    if (!number || k.relation == "=" || (*number == 0 && k.relation == "<")) return unknown_test(k, line);
    if (k.name == "comm_avg_ppn")
      note(line, "\"comm_avg_ppn\" becomes ranks_per_node, which is 0 if the nodes differ");
    return test::of(k.name == "comm_size" ? quantity::ranks : quantity::ranks_per_node,
                    k.relation == "<" ? *number - 1 : *number);
  }

  test unknown_test(const key& k, int line) {
    note(line, fmt::format("the test {} has no counterpart and counts as false",
                           tutti::detail::quoted(k.name + k.relation + k.operand)));
    return test::constant(false);
  }

  test test_of(const std::string& text, int line) {
    const key k(text);
    if (k.name == "collective") return test::constant(k.operand == name_of(what_));
    if (k.name == "comm_type") {
      if (k.operand == "any") return test::constant(true);
      return test::constant(k.operand == "intra");
    }
    if (k.name == "comm_size" || k.name == "comm_avg_ppn") return size_of_group(k, line);
    if (k.name == "count" || k.name == "avg_msg_size" || k.name == "total_msg_size")
      return size_test(k, line);
    if (k.operand == "any") return test::constant(true);
    if (k.name == "comm_hierarchy" && (k.operand == "parent" || k.operand == "flat"))
      return test::of(condition::hierarchical, k.operand == "parent");
    const bool yes = k.operand == "yes" || k.operand == "true" || k.operand == "1",
               no = k.operand == "no" || k.operand == "false" || k.operand == "0";
    if (k.name == "is_multi_threaded" && no) return test::constant(true);
    for (const named_condition& one : yes_or_no)
      if (one.theirs == k.name && (yes || no)) return test::of(one.ours, yes);
    return unknown_test(k, line);
  }
  static bool is_choice(const std::string& text) {
    const std::string name = key(text).name;
    return name == "algorithm" || name == "composition";
  }

  // Returns a condition that is not in `known` but decides between the branches of calls with
  // `known`.
  std::optional<condition> undecided(const value& v, const literals& known) {
    for (std::size_t i = 0; i < v.keys.size(); ++i) {
      if (is_choice(v.keys[i].name)) return std::nullopt;
      const test t = test_of(v.keys[i].name, v.keys[i].line);
      if (t.is == test::kind::never) continue;
      if (t.is == test::kind::condition) {
        if (!(known.mask & bit(t.which))) return t.which;
        if (((known.values & bit(t.which)) != 0) != t.expected) continue;
      }
      if (const auto inside = undecided(v.items[i], known)) return inside;
      if (t.is != test::kind::threshold) return std::nullopt;
    }
    return std::nullopt;
  }

  std::vector<tree_region> regions(const value& v, const literals& known) {
    if (!feasible(known)) return {};
    const auto c = undecided(v, known);
    if (!c) {
      tree_region r;
      r.when = known;
      r.then = tuning::reachable(steps(v, 0, known), what_, known, all_values(what_, known));
      return {r};
    }
    literals yes = known, no = known;
    yes.demand(*c, true);
    no.demand(*c, false);
    std::vector<tree_region> all = regions(v, yes), more = regions(v, no);
    if (all.size() == 1 && more.size() == 1 && tuning::same(all[0].then, more[0].then)) {
      all[0].when = known;
      return all;
    }
    std::move(more.begin(), more.end(), std::back_inserter(all));
    return all;
  }

  tree_node steps(const value& v, std::size_t first, const literals& known) {
    tree_node made;
    made.use = unknown();
    for (std::size_t i = first; i < v.keys.size(); ++i) {
      if (is_choice(v.keys[i].name)) {
        made.use = leaf_of(v.keys[i].name, v.items[i], v.keys[i].line);
        return made;
      }
      const test t = test_of(v.keys[i].name, v.keys[i].line);
      const bool passed = t.is == test::kind::never || (t.is == test::kind::condition &&
                                                        ((known.values & bit(t.which)) != 0) != t.expected);
      if (passed) continue;
      if (t.is != test::kind::threshold) return steps(v.items[i], 0, known);
      std::vector<tree_step> two(2);
      two[0] = {t.upper_bound, steps(v.items[i], 0, known), {}};
      two[1] = {tree_step::open, steps(v, i + 1, known), {}};
      made.by = t.by;
      made.steps = std::move(two);
      return made;
    }
    note(v.line, "no test here matches the remaining calls; the built-in choice serves them");
    return made;
  }

  leaf leaf_of(const std::string& text, const value& v, int line) {
    const key k(text);
    mpich_parameters with;
    for (std::size_t i = 0; i < v.keys.size(); ++i) {
      const key one(v.keys[i].name);
      with[one.name] = one.relation.empty() ? v.items[i].text : one.operand;
    }
    leaf made;
    std::string why;
    std::vector<std::string> left_out;
    if (k.name == "algorithm" && counterpart_of(what_, k.operand, with, made, why, left_out)) {
      for (const std::string& one : left_out)
        note(line, fmt::format("{}: the parameter {} has no counterpart", echoed(k.operand), echoed(one)));
      made.from.line = line;
      if (demands_of(made).beyond.empty()) return made;
      why = demands_of(made).beyond;
    }
    note(line, echoed(k.operand) + " has no counterpart" + (why.empty() ? "" : ": " + why));
    return unknown();
  }

  // The first leaf of a node that is illegal for some calls of the region, and a condition that
  // they unmet_leaf.
  struct unmet {
    leaf* use;
    condition missing;
    bool value;
  };
  std::optional<unmet> first_unmet(tree_node& n, const literals& when) const {
    for (tree_step& s : n.steps)
      if (auto found = first_unmet(s.then, when)) return found;
    if (!n.is_leaf() || is_unknown(n.use)) return std::nullopt;
    const literals demanded = demands_of(n.use).conditions;
    const truth_set all(when.mask | demanded.mask, what_);
    std::optional<unmet> found;
    for_each_condition(demanded.mask, [&](condition c) {
      literals one;
      one.demand(c, (demanded.values & bit(c)) != 0);
      if (!found && all.any_without(when, one)) found = unmet{&n.use, c, one.values != 0};
    });
    return found;
  }

  // Splits a region until every leaf is legal for all its calls.
  std::vector<tree_region> legalized(tree_region r) {
    while (const auto unmet_leaf = first_unmet(r.then, r.when)) {
      if (r.when.mask & bit(unmet_leaf->missing)) {
        note(unmet_leaf->use->from.line,
             fmt::format(
                 "{} does not serve calls with {}", name_of(*unmet_leaf->use),
                 to_string(literals{bit(unmet_leaf->missing), r.when.values & bit(unmet_leaf->missing)})));
        *unmet_leaf->use = unknown();
        continue;
      }
      tree_region other = r;
      r.when.demand(unmet_leaf->missing, unmet_leaf->value);
      other.when.demand(unmet_leaf->missing, !unmet_leaf->value);
      std::vector<tree_region> all;
      for (tree_region* one : {&r, &other})
        if (feasible(one->when)) {
          one->then = tuning::reachable(one->then, what_, one->when, all_values(what_, one->when));
          for (tree_region& legal : legalized(*one)) all.push_back(std::move(legal));
        }
      return all;
    }
    return {std::move(r)};
  }

  // Returns an algorithm that serves every call with these conditions. It replaces one without a
  // counterpart.
  leaf fallback(const literals& when) const {
    static constexpr std::string_view names[] = {
        "dissemination",     "knomial",   "recursive_doubling", "bruck", "ring", "pairwise",
        "in_place_exchange", "scattered", "in_place_pairwise",  "linear"};
    leaf made;
    for (const std::string_view name : names) {
      const pure_algorithm* a = find_algorithm(what_, name);
      if (a == nullptr) continue;
      made.what = leaf::kind::algorithm;
      made.chosen = choice(a);
      const demand d = demands_of(made);
      const truth_set all(when.mask | d.conditions.mask, what_);
      if (d.beyond.empty() && !all.any_without(when, d.conditions)) return made;
    }
    return unknown();
  }
  void replace_unknown(tree_node& n, const literals& when) const {
    for (tree_step& s : n.steps) replace_unknown(s.then, when);
    if (!n.is_leaf()) {
      n = tuning::joined(n.by, std::move(n.steps));
    } else if (is_unknown(n.use)) {
      n.use = fallback(when);
    }
  }

  collective what_;
  const std::string& file_;
  std::set<std::pair<int, std::string>>& notes_;
};

// Collects every collective that a key names, and the lines that are about intercommunicators.
void collectives_of(const value& v, std::map<std::string, int>& found, std::vector<int>& inter) {
  for (std::size_t i = 0; i < v.keys.size(); ++i) {
    const key k(v.keys[i].name);
    if (k.name == "collective") found.emplace(k.operand, v.keys[i].line);
    if (k.name == "comm_type" && k.operand == "inter") inter.push_back(v.keys[i].line);
    if (i < v.items.size()) collectives_of(v.items[i], found, inter);
  }
}

}  // namespace

imported import_mpich(std::string_view text, const std::string& file) {
  imported all;
  const json::parsed read = json::parse(text);
  if (!read.good) {
    all.problem = fmt::format("{}:{}: {}", echoed(file), read.line, read.problem);
    return all;
  }
  std::map<std::string, int> named;
  std::vector<int> inter;
  collectives_of(read.root, named, inter);
  if (named.empty()) {
    all.problem = echoed(file) + " is not a selection file of MPICH: no key begins with \"collective=\"";
    return all;
  }
  std::set<std::pair<int, std::string>> notes;
  for (const int line : inter) notes.emplace(line, "between two groups tutti has one algorithm, \"across\"");
  for (const auto& [name, line] : named) {
    const auto find = [](std::string_view one) {
      return std::find(collective_names.begin(), collective_names.end(), one);
    };
    const auto exists = [&](std::string_view one) { return find(one) != collective_names.end(); };
    const auto at = find(name);
    if (at == collective_names.end()) {
      const bool is_nonblocking =
          name.starts_with('i') && (exists(name.substr(1)) || exists(name.substr(1) + "v"));
      notes.emplace(
          line, echoed(name) + (is_nonblocking
                                    ? ": in tutti a nonblocking call runs the algorithm of the blocking call"
                                : exists(name + "v") ? ": tutti runs the algorithm of " + name + "v"
                                                     : ": tutti has no such collective"));
      continue;
    }
    const auto c = static_cast<std::size_t>(at - collective_names.begin());
    all.made.pure[c] = converter(static_cast<collective>(c), file, notes).convert(read.root);
  }
  for (const auto& [line, note] : notes)
    all.notes.push_back(fmt::format("{}:{}: {}", echoed(file), line, note));
  return all;
}

}  // namespace tutti::tool
