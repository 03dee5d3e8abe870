// SPDX-License-Identifier: Apache-2.0
#include "simulation/machine_model.hpp"

namespace tutti::simulation {

std::int64_t machine::max_nodes() const noexcept {
  std::int64_t nodes = 1;
  switch (network) {
    case topology::single_node:
      return 1;
    case topology::fat_tree:
      for (const fat_tree_level& l : levels) nodes *= l.children;
      return nodes;
    case topology::dragonfly:
      return std::int64_t{groups.groups} * groups.routers * groups.nodes;
    case topology::tree:
      nodes = 0;
      for (const tree_switch& s : switches) nodes += s.nodes;
      return nodes;
  }
  return 0;
}

}  // namespace tutti::simulation
