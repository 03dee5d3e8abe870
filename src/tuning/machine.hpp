// SPDX-License-Identifier: Apache-2.0
//
// Describes the machine of a measurement, for the readers of its figures.
#pragma once

#include <fstream>
#include <string>

namespace tutti::tuning {

/// The model of the processor; "unknown" if the system does not report it.
inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace tutti::tuning
