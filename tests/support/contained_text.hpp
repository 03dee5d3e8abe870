// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a message contains certain words; on failure the test prints the message.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tests {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (has(text, part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "\"" << part << "\" is not in \"" << text << "\"";
}

/// Returns the output on standard error while `body` runs, whether it returns or throws.
template <class Body>
std::string captured_stderr(Body&& body) {
  testing::internal::CaptureStderr();
  try {
    body();
  } catch (...) {
    testing::internal::GetCapturedStderr();
    throw;
  }
  return testing::internal::GetCapturedStderr();
}

}  // namespace tests
