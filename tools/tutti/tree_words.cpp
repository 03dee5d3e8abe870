// SPDX-License-Identifier: Apache-2.0
#include "tree_words.hpp"

#include <array>

#include <fmt/core.h>

#include "base/report_text.hpp"
#include "engines/engine_table.hpp"
#include "selection/tree_text.hpp"

namespace tutti::tool {
namespace {

struct phrase {
  condition which;
  std::string_view yes, no;
};
constexpr std::array phrases = {
    phrase{condition::power_of_two, "the ranks are a power of two", "the ranks are not a power of two"},
    phrase{condition::even_ranks, "the number of ranks is even", "the number of ranks is odd"},
    phrase{condition::commutative, "the operator commutes", "the operator does not commute"},
    phrase{condition::builtin_op, "the operator is a standard one", "the operator is user-defined"},
    phrase{condition::in_place, "in place", "not in place"},
    phrase{condition::inter, "between two groups", "within one group"},
    phrase{condition::native, "the engine has its own collective", "the engine has no collective of its own"},
    phrase{condition::shared_memory, "the ranks share memory", "the ranks do not share memory"},
    phrase{condition::hierarchical, "several nodes with several ranks", "one node, or one rank on each"},
    phrase{condition::node_consecutive, "the ranks of each node are consecutive",
           "the ranks of the nodes are mixed"},
    phrase{condition::block_regular, "all blocks have the same length", "blocks have different lengths"},
    phrase{condition::contiguous, "elements have no gaps", "elements have gaps"},
    phrase{condition::host_memory, "host memory", "device memory"},
    phrase{condition::peer_readable, "peers can read the buffers", "peers cannot read the buffers"},
    phrase{condition::any_rank, "each rank can send to each", "ranks can send only to some"},
    phrase{condition::count_ge_ranks, "at least as many elements as ranks", "fewer elements than ranks"},
    phrase{condition::parent, "the whole job", "a part of the job"},
    phrase{condition::equal_nodes, "the same number of ranks on every node",
           "nodes with different numbers of ranks"},
    phrase{condition::rank_order, "combining node by node keeps the order",
           "combining node by node breaks the order"},
    phrase{condition::device_memory, "a buffer is in device memory", "no buffer is in device memory"},
    phrase{condition::log_hops, "ranks can send 1, 2, 4 ... hops", "ranks cannot send 1, 2, 4 ... hops"},
    phrase{condition::neighbors, "ranks can send to their neighbors", "ranks cannot send to their neighbors"},
    phrase{condition::wraps, "the last ranks can send to the first",
           "the last ranks cannot send to the first"},
};
constexpr bool one_for_each() {
  for (std::size_t i = 0; i < phrases.size(); ++i)
    if (static_cast<std::size_t>(phrases[i].which) != i) return false;
  return true;
}
static_assert(one_for_each());

void append(std::string& text, std::string_view more) {
  text += text.empty() || more.empty() ? "" : ", ";
  text += more;
}

}  // namespace

bool is_engine(std::string_view name) noexcept { return find_engine(name) != nullptr; }

std::string default_engine() { return std::string(pick_engine("", {}).name); }

std::optional<std::string> text_of_file(const std::string& name) {
  auto [text, problem] = read_tree_text(name);
  if (!problem.empty()) return std::nullopt;
  return std::move(text);
}

std::string names_of_trees() {
  std::string all;
  for (const std::string_view name : builtin_tree_names())
    all += (all.empty() ? "" : ", ") + std::string(name);
  return all;
}

std::optional<document> load_tree(std::string_view subcommand, const std::string& name, int& status) {
  if (!builtin_tree(name).empty()) return builtin_document(name);
  const auto [text, problem] = read_tree_text(name);
  if (!problem.empty()) {
    fmt::print(stderr, "tutti {}: {}; and there are no built-in trees of this name ({})\n", subcommand,
               problem, names_of_trees());
    status = 2;
    return std::nullopt;
  }
  read_result got = read_tree(text, name);
  for (const fault& f : got.faults) fmt::print(stderr, "{}\n", f.text());
  if (got.good()) return std::move(got.made);
  status = 2;
  return std::nullopt;
}

std::string words_for(const literals& some, std::span<const declared_condition> declared) {
  std::string text;
  for_each_condition(some.mask, [&](condition c) {
    const bool value = (some.values & bit(c)) != 0;
    const auto i = static_cast<std::size_t>(c);
    if (i < phrases.size())
      append(text, value ? phrases[i].yes : phrases[i].no);
    else
      append(text, (value ? "" : "not ") + std::string(name_of(c, declared)));
  });
  return text;
}

std::string words_for(quantity q, const value_range& r, collective what) {
  const bool one = r.min == r.max && r.min == 1;
  std::string_view noun = name_of(q);
  switch (q) {
    case quantity::bytes:
      noun = one ? "byte" : "bytes";
      break;
    case quantity::total_bytes:
      noun = one ? "byte in total" : "bytes in total";
      break;
    case quantity::count:
      noun = one ? "element" : "elements";
      break;
    case quantity::ranks:
      noun = one ? "rank" : "ranks";
      break;
    case quantity::ranks_per_node:
      noun = one ? "rank on each node" : "ranks on each node";
      break;
    case quantity::nodes:
      noun = one ? "node" : "nodes";
      break;
  }
  if (r.min == r.max) return fmt::format("{} {}", r.min, noun);
  if (r.max == tree_step::open) return fmt::format("{} {} or more", r.min, noun);
  if (r.min <= all_values(what)[static_cast<std::size_t>(q)].min)
    return fmt::format("at most {} {}", r.max, noun);
  return fmt::format("{} to {} {}", r.min, r.max, noun);
}

std::string words_for(const value_ranges& within, collective what) {
  const value_ranges all = all_values(what);
  std::string text;
  for (const quantity q : {quantity::ranks, quantity::nodes, quantity::ranks_per_node, quantity::bytes,
                           quantity::total_bytes, quantity::count}) {
    const auto i = static_cast<std::size_t>(q);
    if (within[i] != all[i]) append(text, words_for(q, within[i], what));
  }
  return text;
}

std::string words_for(const leaf& l) {
  std::string text(name_of(l));
  const catalogue_entry* const entry = l.named();
  if (entry == nullptr) return text;
  for (const algorithm_parameter_range& p : entry->parameters) {
    const std::uint32_t value = l.parameter_values()[static_cast<std::size_t>(p.which)];
    if (value != p.default_value) text += fmt::format(", {} = {}", name_of(p.which), value);
  }
  return text;
}

std::string place_of(const origin& from) {
  return from.file == nullptr ? "nowhere" : fmt::format("{}:{}", echoed(from.file->name), from.line);
}

}  // namespace tutti::tool
