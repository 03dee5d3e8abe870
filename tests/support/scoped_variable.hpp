// SPDX-License-Identifier: Apache-2.0
//
// Sets environment variables for a part of a test and restores the previous values, whatever the
// environment of the test is.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace tests {

inline std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

/// Sets a variable during its lifetime. Only for the thread that starts jobs; no rank may run
/// meanwhile.
class scoped_variable {
 public:
  scoped_variable(std::string name, const std::string& value)
      : name_(std::move(name)), before_(variable(name_.c_str())) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~scoped_variable() {
    if (before_)
      setenv(name_.c_str(), before_->c_str(), 1);
    else
      unsetenv(name_.c_str());
  }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace tests
