// SPDX-License-Identifier: Apache-2.0
#include "engines/node_topology.hpp"

#include <stdexcept>
#include <string>

#include "base/environment_variables.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

hierarchy topology_from_text(std::string_view text, int ranks) {
  try {
    return read_nodes(text, ranks);
  } catch (const std::invalid_argument& fault) {
    throw usage_error("run", -1, std::string(topology_variable), fault.what(), "");
  }
}

hierarchy topology_of_process(int ranks) {
  const auto text = setting(topology_variable);
  return text ? topology_from_text(*text, ranks) : hierarchy(ranks);
}

}  // namespace tutti::detail
