// SPDX-License-Identifier: Apache-2.0
//
// Invalid trees with the faults that are reported of them: several in one file, by topic. A case is
// a line `=== NAME`, the text, a line `---`, and the faults, which end at an empty line.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

struct tree_case {
  std::string name, text, faults;
};

/// Throws std::runtime_error if the text is not made of cases.
inline std::vector<tree_case> tree_cases(std::string_view text) {
  constexpr std::string_view head = "=== ", middle = "\n---\n", end = "\n\n";
  std::vector<tree_case> all;
  while (!text.empty()) {
    const std::size_t line = text.find('\n');
    if (!text.starts_with(head) || line == text.npos) throw std::runtime_error("no line \"=== NAME\"");
    const std::size_t faults = text.find(middle, line);
    const std::size_t last = faults == text.npos ? faults : text.find(end, faults + middle.size());
    const std::string name(text.substr(head.size(), line - head.size()));
    if (last == text.npos) throw std::runtime_error(name + ": no line \"---\", or no empty line at the end");
    // An empty text shares its line end with the line before.
    all.push_back({name, std::string(text.substr(line + 1, faults > line ? faults - line - 1 : 0)),
                   std::string(text.substr(faults + middle.size(), last + 1 - faults - middle.size()))});
    text.remove_prefix(last + end.size());
  }
  return all;
}

}  // namespace tests
