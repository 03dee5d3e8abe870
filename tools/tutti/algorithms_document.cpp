// SPDX-License-Identifier: Apache-2.0
//
// What the heads of the algorithms' files say, as one document.
#include "algorithms_document.hpp"

#include <fmt/core.h>

namespace tutti::tool {
namespace {

constexpr const char* preface = R"(# Algorithms

Made by `tutti list --markdown` from the heads of the files of `src/algorithms`: change those, and make it again.
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

Restrictions say which calls an algorithm serves:

| | |
| --- | --- |
| `power_of_two`, `even_ranks` | the number of ranks is one |
| `equal_regions` | the parameter `region` divides the number of ranks |
| `count_ge_ranks` | there are at least as many elements as ranks |
| `commutative` | the operator commutes |
| `builtin_op` | the operator is one of the library's |
| `in_place`, `not_in_place` | the call is; the call is not |
| `inter` | the call is between two groups; algorithms without it serve calls within one |
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

std::string section(const pure_algorithm& a) {
  std::string text = fmt::format("\n### {}\n\n{}\n\n", a.name, escaped(a.idea));
  const auto line = [&](std::string_view what, std::string_view value) {
    text += fmt::format("- {}: {}\n", what, value);
  };
  line("source", escaped(a.source));
  std::string needs;
  for (const auto& [bit, name] : restriction_names)
    if (demands(a.needs, bit)) needs += fmt::format("{}`{}`", needs.empty() ? "" : ", ", name);
  line("restrictions", needs.empty() ? "none" : needs);
  if (a.parameters.empty()) line("parameters", "none");
  for (const knob_range& k : a.parameters)
    line("parameter", fmt::format("`{}` = {}, from {} to {}: {}", name_of(k.which), k.usual, k.least, k.most,
                                  escaped(k.what)));
  line("rounds", fmt::format("`{}`", a.rounds));
  line("bytes", fmt::format("`{}`", a.bytes));
  line("scratch", fmt::format("`{}`", a.scratch));
  line("good for", escaped(a.good_for));
  return text;
}

}  // namespace

std::string algorithms_document(std::span<const pure_algorithm* const> all) {
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
  return text + contents + "\n" + sections;
}

}  // namespace tutti::tool
