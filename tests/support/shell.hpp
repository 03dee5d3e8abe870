// SPDX-License-Identifier: Apache-2.0
//
// Runs a command through the shell, in the same way as its users.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace tests {

struct command_result {
  int status = -1;
  std::string text;  // of both outputs
};

inline command_result shell(const std::string& command) {
  command_result e;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) e.text.append(part, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) e.status = WEXITSTATUS(status);
  return e;
}

}  // namespace tests
