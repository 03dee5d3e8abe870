// SPDX-License-Identifier: Apache-2.0
#include "selection/tree_text.hpp"

#include <utility>

#include "base/regular_file.hpp"

namespace tutti::detail {

tree_text read_tree_text(const std::string& name) {
  // more than a tree may have; read_tree() reports longer texts
  constexpr std::size_t max_bytes = std::size_t{8} << 20;
  file_text read = read_regular_file(name, max_bytes);
  if (read.problem.empty() && read.text.empty()) read.problem = name + " is empty";
  return {std::move(read.text), std::move(read.problem)};
}

}  // namespace tutti::detail
