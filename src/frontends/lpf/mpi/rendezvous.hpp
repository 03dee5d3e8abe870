// SPDX-License-Identifier: Apache-2.0
//
// A rendezvous of processes that know a host, a port, and their number. Each one sends a text
// (contact). Process 0 reads all texts and sends an answer to all. Independent of MPI.
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
  const char* operation = "";  // for errors
};

/// The error of processes whose attempt fails.
inline constexpr const char* not_of_one_job =
    "the processes do not belong to one MPI job, and this MPI cannot join jobs";

struct talk {
  /// Computes the answer of process 0 from the contacts, in the order of pids. If it throws, all
  /// processes get the error.
  std::function<std::string(const std::vector<std::string>& contacts)> answer;
  /// What each process then tries with the answer, at the same time.
  std::function<bool(const std::string& answer)> attempt;
};

/// Returns the answer, the same on all processes, if the attempt has succeeded on all of them.
/// Throws usage_error on all if they disagree about `processes`, if two have the same pid, if
/// `answer` throws or if an attempt fails. Throws engine_error if they do not all arrive in time.
std::string meet_at(const rendezvous& where, const std::string& contact, const talk& about);

}  // namespace tutti::lpf
