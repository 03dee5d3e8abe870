// SPDX-License-Identifier: Apache-2.0
//
// The seeds of random tests: TUTTI_TEST_SEED if it is set, else the default of the test. A failing
// test prints its seed, and with it the test repeats the same values.
#pragma once

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "support/failure_report.hpp"

namespace tests {

/// Returns the seed of a test and records it for the line that repeats the test.
inline std::uint64_t seed_or(std::uint64_t default_value) {
  const std::uint64_t seed = selected_seed().value_or(default_value);
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

/// Runs `body` with every seed from `first` to `last`, up to the first failure.
template <class Body>
void for_each_seed(std::uint64_t first, std::uint64_t last, Body&& body) {
  if (selected_seed()) first = last = *selected_seed();
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    testing::Test::RecordProperty("seed", std::to_string(seed));
    body(seed);
  }
}

}  // namespace tests
