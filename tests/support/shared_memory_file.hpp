// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether an address lies in the memory that the other processes of the node can map.
#pragma once

#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace tests {

/// By the name of its file in /proc/self/maps.
inline bool is_in_shared_memory(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> begin >> dash >> end;
    if (begin <= address && address < end) return line.find("memfd:tutti-arena") != std::string::npos;
  }
  return false;
}

}  // namespace tests
