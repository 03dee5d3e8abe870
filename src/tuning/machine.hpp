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

/// Which memory the system backs by huge pages without a request: "always", "madvise", "never", or
/// "unknown".
inline std::string transparent_huge_pages() {
  std::ifstream modes("/sys/kernel/mm/transparent_hugepage/enabled");
  for (std::string mode; modes >> mode;)
    if (mode.front() == '[' && mode.back() == ']') return mode.substr(1, mode.size() - 2);
  return "unknown";
}

}  // namespace tutti::tuning
