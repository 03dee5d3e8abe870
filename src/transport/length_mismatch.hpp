// SPDX-License-Identifier: Apache-2.0
//
// What a receiver of a collective throws if a message is not as long as it expects. All engines and
// the executor throw it here.
#pragma once

#include <optional>
#include <string>

#include "tutti/error.hpp"

namespace tutti::detail {

/// Calls `throw_error` with a truncation_error if the message of `peer` is too long, else with a
/// mismatch_error. `actual` and `expected` are in bytes. Without `actual` the length is unknown,
/// and too long.
template <class Throw>
[[noreturn]] void throw_length_mismatch(const char* operation, int rank, int peer,
                                        std::optional<std::size_t> actual, std::size_t expected,
                                        Throw&& throw_error) {
  const std::string from = "rank " + std::to_string(peer) + " sent ",
                    expected_text = std::to_string(expected) + " bytes";
  const std::string text =
      actual ? from + std::to_string(*actual) + " bytes, but this rank expects " + expected_text
             : from + "more than the " + expected_text + " that this rank expects";
  const char* remedy =
      "call it with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)";
  if (!actual || *actual > expected) throw_error(truncation_error(operation, rank, "count", text, remedy));
  throw_error(mismatch_error(operation, rank, "count", text, remedy));
  __builtin_unreachable();
}

}  // namespace tutti::detail
