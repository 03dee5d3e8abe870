// SPDX-License-Identifier: Apache-2.0
//
// Where random tests get their seeds from: TUTTI_TEST_SEED where it is set, else what the test says. A test
// that fails prints its seed, and run with it alone it draws the same again.
#pragma once

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "support/repeated_calls.hpp"

namespace tests {

/// The seed of a test that draws: kept with the test, for the line that says how to run it again.
inline std::uint64_t seed_or(std::uint64_t default_value) {
  const std::uint64_t seed = wanted_seed().value_or(default_value);
  testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

/// `body` with every seed from `first` to `last`, up to the first that fails.
template <class Body>
void for_each_seed(std::uint64_t first, std::uint64_t last, Body&& body) {
  if (wanted_seed()) first = last = *wanted_seed();
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    testing::Test::RecordProperty("seed", std::to_string(seed));
    body(seed);
  }
}

}  // namespace tests
