// SPDX-License-Identifier: Apache-2.0
//
// A rendezvous of processes that know a host, a port, and their number. Each one sends a text
// (contact). Process 0 reads all texts and sends a reply to all. It does not use MPI.
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

struct rendezvous_callbacks {
  /// Computes the reply of process 0 from the contacts, in the order of pids. If it throws, all
  /// processes get the error.
  std::function<std::string(const std::vector<std::string>& contacts)> reply;
  /// Called with the reply on each process, at the same time. Returns whether it succeeded.
  std::function<bool(const std::string& reply)> attempt;
};

/// Returns the reply, the same on all processes, if the attempt has succeeded on all of them.
/// Throws usage_error on all if they disagree about `processes`, if two have the same pid, if
/// `reply` throws, or if an attempt fails. Throws engine_error if they do not all arrive in time.
std::string run_rendezvous(const rendezvous& where, const std::string& contact,
                           const rendezvous_callbacks& callbacks);

}  // namespace tutti::lpf
