// SPDX-License-Identifier: Apache-2.0
//
// Processes that know a host, a port, and how many they are find one another: each brings a card, process 0
// reads all of them and answers to all. Knows nothing of MPI.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

struct rendezvous {
  std::string server, port;
  std::chrono::steady_clock::time_point until;
  lpf_pid_t pid = 0, processes = 1;
  const char* operation = "";  // of errors
};

/// What processes are told whose attempt fails.
inline constexpr const char* not_of_one_job =
    "the processes do not belong to one MPI job, and this MPI cannot join jobs";

struct talk {
  /// What process 0 makes of the cards, in the order of pids. May throw, which all are told.
  std::function<std::string(const std::vector<std::string>& contacts)> answer;
  /// What each process then tries with the answer, at the same time.
  std::function<bool(const std::string& answer)> attempt;
};

/// The answer, the same on all processes, when the attempt has succeeded on all of them. Throws on all of
/// them usage_error where they do not agree about `processes`, two have the same pid, `answer` throws or an
/// attempt fails; engine_error where they do not come together in time.
std::string meet_at(const rendezvous& where, const std::string& contact, const talk& about);

}  // namespace tutti::lpf
