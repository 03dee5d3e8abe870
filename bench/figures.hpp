// SPDX-License-Identifier: Apache-2.0
//
// Formats times, ratios and sizes for the tables of the benchmarks.
#pragma once

#include <cstddef>
#include <string>

#include <fmt/core.h>

namespace bench {

// Three digits below a hundred, whole numbers above; further digits are noise.
inline std::string number(double x) {
  if (x < 9.995) return fmt::format("{:.2f}", x);
  if (x < 99.95) return fmt::format("{:.1f}", x);
  return fmt::format("{:.0f}", x);
}

inline std::string size_name(std::size_t bytes) {
  if (bytes >= 1u << 20 && bytes % (1u << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes >= 1u << 10 && bytes % (1u << 10) == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} B", bytes);
}

}  // namespace bench
