// SPDX-License-Identifier: Apache-2.0
//
// The error of a message of a collective that is not as long as its receiver expects. All engines,
// the direct collectives and the executor throw it here.
#pragma once

#include <optional>
#include <string>

#include "tutti/error.hpp"

namespace tutti::detail {

/// The lengths of one message in bytes. Without `actual` the length is unknown, and too long.
struct message_lengths {
  int sender, receiver;
  std::optional<std::size_t> actual;
  std::size_t expected;
  const char* parameter = "count";
  const char* remedy =
      "call it with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)";
};

/// Calls `throw_error` with a truncation_error if the message is too long, else with a
/// mismatch_error. `rank` is the calling rank: the sender or the receiver of the message.
template <class Throw>
[[noreturn]] void throw_length_mismatch(const char* operation, int rank, const message_lengths& of,
                                        Throw&& throw_error) {
  const auto name = [&](int r) { return r == rank ? "this rank" : "rank " + std::to_string(r); };
  const std::string expected = std::to_string(of.expected) + " bytes";
  const std::string text =
      name(of.sender) + " sent " +
      (of.actual ? std::to_string(*of.actual) + " bytes, but " + name(of.receiver) + " expects " + expected
                 : "more than the " + expected + " that " + name(of.receiver) + " expects");
  if (!of.actual || *of.actual > of.expected)
    throw_error(truncation_error(operation, rank, of.parameter, text, of.remedy));
  throw_error(mismatch_error(operation, rank, of.parameter, text, of.remedy));
  __builtin_unreachable();
}

}  // namespace tutti::detail
