// SPDX-License-Identifier: Apache-2.0
//
// What a receiver of a collective throws if a message is not as long as it expects. All engines and the
// executor throw it here.
#pragma once

#include <optional>
#include <string>

#include "tutti/error.hpp"

namespace tutti {

/// Calls `throw_error` with a truncation_error if the message of `peer` is too long, else with a
/// mismatch_error. `came` and `expected` are in bytes; without `came` the length is unknown, and too long.
template <class Throw>
[[noreturn]] void throw_length_mismatch(const char* operation, int rank, int peer,
                                        std::optional<std::size_t> came, std::size_t expected,
                                        Throw&& throw_error) {
  const std::string from = "rank " + std::to_string(peer) + " sent ",
                    wanted = std::to_string(expected) + " bytes";
  const std::string text = came ? from + std::to_string(*came) + " bytes, but this rank expects " + wanted
                                : from + "more than the " + wanted + " that this rank expects";
  const char* remedy =
      "call it with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)";
  if (!came || *came > expected) throw_error(truncation_error(operation, rank, "count", text, remedy));
  throw_error(mismatch_error(operation, rank, "count", text, remedy));
  __builtin_unreachable();
}

}  // namespace tutti
