// SPDX-License-Identifier: Apache-2.0
#include "engines/node_layout.hpp"

#include <stdexcept>
#include <string>

#include "base/environment.hpp"
#include "tutti/error.hpp"

namespace tutti {

hierarchy pretended_layout(std::string_view text, int ranks) {
  try {
    return read_nodes(text, ranks);
  } catch (const std::invalid_argument& fault) {
    throw usage_error("run", -1, std::string(layout_variable), fault.what(), "");
  }
}

hierarchy layout_of_process(int ranks) {
  const auto text = setting(layout_variable);
  return text ? pretended_layout(*text, ranks) : hierarchy(ranks);
}

}  // namespace tutti
