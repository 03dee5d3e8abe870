// SPDX-License-Identifier: Apache-2.0
//
// Writes docs/algorithms.md: what the heads of the algorithms' files state.
#include "algorithms_document.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "proof/abstract_call.hpp"

namespace tutti::tool {
namespace {

constexpr const char* preface = R"(# Algorithms

`tutti list --markdown` writes this page from the heads of the files of `src/algorithms` and `src/compositions`. To change it,
change those files and run the command again.
`tutti show NAME` draws an algorithm for a call, and `tutti check NAME` proves it. A call selects it with `algorithm("NAME")` or
with the variable `TUTTI_<COLLECTIVE>_ALGORITHM`, with parameters as in `chain:segment=64K`.

## How to read it

Three formulas give the cost of an algorithm. `tutti check` compares them with its schedules. If the vector divides evenly into
the parts of the algorithm, a formula is exact, and a formula that begins with `<=` is an upper bound.

| | |
| --- | --- |
| rounds | the time of the whole collective if a message of any length takes one unit of time, a rank sends one and receives one message at a time, and local work is free |
| bytes | the bytes that the busiest rank sends or receives, whichever are more |
| scratch | the memory of the rank that needs most, in addition to the buffers of the call |

The formulas use these names

| | |
| --- | --- |
@names@| @parameters@ | the algorithm's parameters |

and `ceil`, `floor`, `min`, `max`, `log2`, `log(base, x)`, `sqrt`, `pow`, `ceil_log(k, x)` (the smallest e with k^e >= x) and
`floor_log(k, x)` (the largest e with k^e <= x). A comparison is 1 or 0, and `c ? x : y` has the meaning that it has in C.

Restrictions state which calls an algorithm or a composition serves:

| | |
| --- | --- |
@restrictions@
The reach states how far the ranks of an algorithm send and receive. It decides whether the algorithm serves groups whose members
know only a few others (chains, rings, logchains, logrings). Without a reach, ranks may send to any rank:

| | |
| --- | --- |
@reaches@)";

std::string preface_with_names() {
  std::string text = preface, names, parameters, restrictions;
  const auto replace = [&](std::string_view mark, const std::string& by) {
    text.replace(text.find(mark), mark.size(), by);
  };
  for (const proof::formula_name& one : proof::formula_names)
    names += fmt::format("| `{}` | {} |\n", one.name, one.what);
  for (const std::string_view name : algorithm_parameter_names)
    parameters += fmt::format("{}`{}`", parameters.empty() ? "" : ", ", name);
  for (const restriction_name& one : restriction_names)
    restrictions += fmt::format("| `{}` | {} |\n", one.name, one.what);
  replace("@names@", names);
  replace("@parameters@", parameters);
  replace("@restrictions@", restrictions);
  std::string reaches;
  for (const reach r : {reach::hops_around, reach::hops, reach::neighbors_around, reach::neighbors})
    reaches += fmt::format("| {} | {} |\n", name_of(r), description_of(r));
  replace("@reaches@", reaches);
  return text;
}

std::string escaped_markdown(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '*' || c == '<' || c == '|' || c == '[' || c == ']') all += '\\';
    all += c;
  }
  return all;
}

// The anchor of a heading in a link.
std::string anchor(std::string_view name) {
  std::string all;
  for (const char c : name)
    if (c != '/') all += c;
  return all;
}

std::string item(std::string_view what, std::string_view value) {
  return fmt::format("- {}: {}\n", what, value);
}

std::string reach_text(const catalogue_entry& a) {
  const reach_claim& r = a.claimed_reach;
  return std::string(name_of(r.to)) +
         (r.value == 0 ? "" : fmt::format(", with `{}` = {}", name_of(r.with), r.value));
}

// The items that algorithms and compositions have in common.
std::string head_items(const catalogue_entry& a) {
  std::string text;
  const auto line = [&](std::string_view what, std::string_view value) { text += item(what, value); };
  line("source", escaped_markdown(a.source));
  std::string needs;
  for (const restriction_name& one : restriction_names)
    if (has_restriction(a.restrictions, one.which))
      needs += fmt::format("{}`{}`", needs.empty() ? "" : ", ", one.name);
  line("restrictions", needs.empty() ? "none" : needs);
  if (a.claimed_reach.to != reach::any_rank) line("reach", reach_text(a));
  if (a.parameters.empty()) line("parameters", "none");
  for (const algorithm_parameter_range& k : a.parameters)
    line("parameter", fmt::format("`{}` = {}, from {} to {}: {}", name_of(k.which), k.default_value, k.min,
                                  k.max, escaped_markdown(k.what)));
  return text;
}

std::string section(const pure_algorithm& a) {
  return fmt::format("\n### {}\n\n{}\n\n", a.name, escaped_markdown(a.idea)) + head_items(a) +
         item("rounds", fmt::format("`{}`", a.rounds)) + item("bytes", fmt::format("`{}`", a.bytes)) +
         item("scratch", fmt::format("`{}`", a.scratch)) + item("good for", escaped_markdown(a.good_for));
}

constexpr const char* compositions_preface = R"(
## Compositions

A composition is a collective made of other collectives: on all ranks, on the ranks of a node, or on a buffer that it allocates.
Only the pure tree chooses the algorithms of its inner calls, so no composition calls another one. The composition tree selects
compositions. A call selects one with `composition("NAME")`, the environment with `TUTTI_<COLLECTIVE>_COMPOSITION`, with
parameters as in `pipeline:segment=64K`; `@pure` selects none. `tutti explain` shows the inner calls of a composition.
)";

// A composition that serves several collectives is in the catalogue under each of them. The
// document lists it once.
std::string composed_sections(std::span<const composed_algorithm* const> all, std::string& contents) {
  std::string text = compositions_preface;
  std::vector<const composed_algorithm*> first;
  for (const composed_algorithm* c : all)
    if (std::none_of(first.begin(), first.end(), [&](const auto* f) { return f->plan == c->plan; }))
      first.push_back(c);
  std::sort(first.begin(), first.end(),
            [](const auto* a, const auto* b) { return a->short_name() < b->short_name(); });
  contents += "\n- [compositions](#compositions): ";
  for (const composed_algorithm* f : first) {
    std::string names;
    for (const composed_algorithm* c : all)
      if (c->plan == f->plan) names += fmt::format("{}`{}`", names.empty() ? "" : ", ", c->name);
    contents += fmt::format("{}[{}](#{})", f == first.front() ? "" : ", ", f->short_name(), f->short_name());
    text += fmt::format("\n### {}\n\n{}\n\n", f->short_name(), escaped_markdown(f->idea)) +
            item("names", names) + item("calls", escaped_markdown(f->calls)) + head_items(*f) +
            item("good for", escaped_markdown(f->good_for));
  }
  return text;
}

}  // namespace

std::string algorithms_document(std::span<const pure_algorithm* const> all,
                                std::span<const composed_algorithm* const> composed) {
  std::string text = preface_with_names(), contents = "\n## Contents\n\n", sections;
  const pure_algorithm* before = nullptr;
  for (const pure_algorithm* a : all) {
    if (before == nullptr || before->what != a->what) {
      const std::string_view what = name_of(a->what);
      contents += fmt::format("{}- [{}](#{}): ", before == nullptr ? "" : "\n", what, anchor(what));
      sections += fmt::format("\n## {}\n", what);
    } else {
      contents += ", ";
    }
    contents += fmt::format("[{}](#{})", a->short_name(), anchor(a->name));
    sections += section(*a);
    before = a;
  }
  if (!composed.empty()) sections += composed_sections(composed, contents);
  return text + contents + "\n" + sections;
}

}  // namespace tutti::tool
