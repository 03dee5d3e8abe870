// SPDX-License-Identifier: Apache-2.0
//
// A child program: started, listened to, and ended when it takes too long.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bench {

struct child_result {
  std::string out;
  std::string err;
  int status = 0;     // the exit code, or 128 + the signal that ended it
  bool late = false;  // it was ended because its time was up
};

// Changes to the environment: a value, or nothing to remove the variable.
using environment = std::vector<std::pair<std::string, std::optional<std::string>>>;

// Runs `command` (found in PATH unless it holds a slash). Throws std::system_error where no process can be
// made; a program that cannot be started ends with status 127. The child ends with this process, whatever
// ends it.
child_result run_child(const std::vector<std::string>& command, const environment& changes,
                       std::chrono::duration<double> limit);

// How a launcher begins that starts this many ranks, though they be more than cores; adds what it wants of
// the environment.
std::vector<std::string> launched(const std::string& launcher, int ranks, environment& variables);

// Is there such a program in PATH?
bool in_path(const std::string& program);

}  // namespace bench
