// SPDX-License-Identifier: Apache-2.0
//
// Reads the text of a file that should contain a tree. It limits the length, because the file may
// be anything.
#pragma once

#include <string>

namespace tutti::detail {

struct tree_text {
  std::string text;
  /// e.g. "FILE cannot be read: No such file or directory"; empty if it was read
  std::string problem;
};
tree_text read_tree_text(const std::string& name);

}  // namespace tutti::detail
