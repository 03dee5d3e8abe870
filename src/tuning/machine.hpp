// SPDX-License-Identifier: Apache-2.0
//
// The machine that figures were measured on, as whoever reads them wants to know it.
#pragma once

#include <fstream>
#include <string>

namespace tutti::tuning {

/// The model of the processor, "unknown" where the system does not tell it.
inline std::string processor() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

}  // namespace tutti::tuning
