// SPDX-License-Identifier: Apache-2.0
//
// Makes decision-tree documents from texts in a test.
#pragma once

#include <string>
#include <string_view>

#include "selection/tree.hpp"

namespace tutti::detail {

inline read_result read_text(std::string_view text, extent how_much = extent::partial) {
  return read_tree(text, "test", how_much);
}
inline read_result read_pure(const std::string& regions) {
  return read_text(R"({"schema": "tutti/tree/1", "pure": )" + regions + "}");
}

inline std::string all_faults(const read_result& r) {
  std::string text;
  for (const fault& f : r.faults) text += f.text() + "\n";
  return text;
}

}  // namespace tutti::detail
