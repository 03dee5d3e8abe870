// SPDX-License-Identifier: Apache-2.0
//
// Reads a machine file. docs/guide/scale.md describes the format. A quantity is a text with a unit,
// such as "0.5us" or "100Gbit/s", so that a wrong unit is an error and not another machine.
//
// `tutti simulate` calls it, and the fuzz test.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "selection/tree.hpp"
#include "simulation/machine_model.hpp"

namespace tutti::simulation {

using namespace tutti::detail;

struct machine_result {
  machine made;               ///< valid only if there is no fault
  std::vector<fault> faults;  ///< all faults, by line

  bool good() const noexcept { return faults.empty(); }
};

/// Never throws, whatever the text contains. `file` is the name in the faults.
machine_result read_machine(std::string_view text, std::string_view file) noexcept;

/// The text of a machine of the folder machines/, which the build embeds. Empty if there is no such
/// name.
std::string_view builtin_machine(std::string_view name) noexcept;
std::span<const std::string_view> builtin_machine_names() noexcept;

}  // namespace tutti::simulation
