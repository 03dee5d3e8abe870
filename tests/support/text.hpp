// SPDX-License-Identifier: Apache-2.0
//
// Whether a message says something; where it does not, the test shows what it says instead.
#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace tests {

inline bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

inline testing::AssertionResult says(std::string_view text, std::string_view part) {
  if (has(text, part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it does not say \"" << part << "\" but \"" << text << "\"";
}

/// What goes to standard error while `body` runs, whether it ends or throws.
template <class Body>
std::string said_on_stderr(Body&& body) {
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
