// SPDX-License-Identifier: Apache-2.0
//
// What the heads of the algorithms' files say, as one document.
#include "algorithms_document.hpp"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace tutti::tool {
namespace {

constexpr const char* preface = R"(# Algorithms

Made by `tutti list --markdown` from the heads of the files of `src/algorithms` and `src/compositions`: change those, and
make it again.
`tutti show NAME` draws an algorithm for a call, `tutti check NAME` proves it, and a call asks for it by `algorithm("NAME")` or
by the variable `TUTTI_<COLLECTIVE>_ALGORITHM`, with parameters as in `chain:segment=64K`.

## How to read it

What an algorithm costs is given by three formulas. `tutti check` compares them with its schedules: they hold exactly, and those
that begin with `<=` as bounds, wherever the vector divides evenly into the parts that the algorithm cuts it into.

| | |
| --- | --- |
| rounds | how long the whole collective takes where a message takes one unit of time, whatever its length, and a rank sends one and receives one at a time; local work is free |
| bytes | what the busiest rank sends |
| scratch | memory of the rank that needs most, besides the buffers of the call |

In them stand

| | |
| --- | --- |
| `p` | the number of ranks; between two groups, of both |
| `root` | the root |
| `n` | bytes of the whole vector: of the operand in bcast, reduce, allreduce, scan and exscan; `p * b` where every rank has a block of the same length; the sum of all blocks in forms with a count for each rank; in alltoallv, alltoallw and neighbor_alltoallv the most that one rank gives |
| `b` | bytes of a block; of the longest where they differ |
| `pof2` | the largest power of two that is not greater than `p` |
| `segments` | `ceil(n / segment)` |
| `ordered` | 1 where the operator does not commute, else 0 |
| `in_place` | 1 where the call is in place, else 0 |
| `word` | 8, the bytes of a counter |
| `first`, `second` | sizes of the two groups |
| `sources`, `destinations` | the largest number of neighbours that a rank receives from, and sends to |
| @parameters@ | the algorithm's parameters |

and `ceil`, `floor`, `min`, `max`, `log2`, `log(base, x)`, `sqrt`, `pow`, `ceil_log(k, x)` (the smallest e with k^e >= x) and
`floor_log(k, x)` (the largest e with k^e <= x). A comparison is 1 or 0, and `c ? x : y` is as in C.

Restrictions say which calls an algorithm or a composition serves:

| | |
| --- | --- |
| `power_of_two`, `even_ranks` | the number of ranks is one |
| `equal_regions` | the parameter `region` divides the number of ranks |
| `count_ge_ranks` | there are at least as many elements as ranks |
| `commutative` | the operator commutes |
| `builtin_op` | the operator is one of the library's |
| `in_place`, `not_in_place` | the call is; the call is not |
| `inter` | the call is between two groups; algorithms without it serve calls within one |
| `hierarchical` | there are several nodes, and one of them has several ranks |
| `equal_nodes` | every node has as many ranks |
| `node_consecutive` | the ranks of every node are consecutive |
| `rank_order` | the ranks of every node are consecutive, or the operator commutes, or nothing is combined |
| `parent` | the group is the whole job |
)";

std::string preface_with_parameters() {
  constexpr std::string_view mark = "@parameters@";
  std::string text = preface, names;
  for (const std::string_view name : knob_names)
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", name);
  return text.replace(text.find(mark), mark.size(), names);
}

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '*' || c == '<' || c == '|' || c == '[' || c == ']') all += '\\';
    all += c;
  }
  return all;
}

// What a heading is called in a link.
std::string anchor(std::string_view name) {
  std::string all;
  for (const char c : name)
    if (c != '/') all += c;
  return all;
}

std::string item(std::string_view what, std::string_view value) {
  return fmt::format("- {}: {}\n", what, value);
}

// What an algorithm and a composition both have.
std::string head_items(const catalogue_entry& a) {
  std::string text;
  const auto line = [&](std::string_view what, std::string_view value) { text += item(what, value); };
  line("source", escaped(a.source));
  std::string needs;
  for (const auto& [bit, name] : restriction_names)
    if (demands(a.needs, bit)) needs += fmt::format("{}`{}`", needs.empty() ? "" : ", ", name);
  line("restrictions", needs.empty() ? "none" : needs);
  if (a.parameters.empty()) line("parameters", "none");
  for (const knob_range& k : a.parameters)
    line("parameter", fmt::format("`{}` = {}, from {} to {}: {}", name_of(k.which), k.usual, k.least, k.most,
                                  escaped(k.what)));
  return text;
}

std::string section(const pure_algorithm& a) {
  return fmt::format("\n### {}\n\n{}\n\n", a.name, escaped(a.idea)) + head_items(a) +
         item("rounds", fmt::format("`{}`", a.rounds)) + item("bytes", fmt::format("`{}`", a.bytes)) +
         item("scratch", fmt::format("`{}`", a.scratch)) + item("good for", escaped(a.good_for));
}

constexpr const char* compositions_preface = R"(
## Compositions

A composition is a collective made of others: on all ranks, on the ranks of a node, or on a buffer that it makes. What it
calls is chosen by the pure tree alone, so that none leads to another. The composition tree names them, a call asks for one by
`composition("NAME")`, the environment by `TUTTI_<COLLECTIVE>_COMPOSITION`, with parameters as in `pipeline:segment=64K`; `@pure`
is none. `tutti explain` says what one would call.
)";

// One that serves several collectives stands in the catalogue under each.
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
    text += fmt::format("\n### {}\n\n{}\n\n", f->short_name(), escaped(f->idea)) + item("names", names) +
            item("calls", escaped(f->calls)) + head_items(*f) + item("good for", escaped(f->good_for));
  }
  return text;
}

}  // namespace

std::string algorithms_document(std::span<const pure_algorithm* const> all,
                                std::span<const composed_algorithm* const> composed) {
  std::string text = preface_with_parameters(), contents = "\n## Contents\n\n", sections;
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
