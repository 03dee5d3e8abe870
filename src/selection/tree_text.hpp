// SPDX-License-Identifier: Apache-2.0
//
// The text of a file that is to be a tree. No more is read than a tree can have, whatever the file is.
#pragma once

#include <string>

namespace tutti {

struct tree_text {
  std::string text;
  std::string problem;  ///< "FILE cannot be read: No such file or directory"; empty where it was read
};
tree_text read_tree_text(const std::string& name);

}  // namespace tutti
