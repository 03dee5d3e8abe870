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
class set_for_now {
 public:
  set_for_now(std::string name, const std::string& value)
      : name_(std::move(name)), before_(variable(name_.c_str())) {
    setenv(name_.c_str(), value.c_str(), 1);
  }
  ~set_for_now() {
    if (before_)
      setenv(name_.c_str(), before_->c_str(), 1);
    else
      unsetenv(name_.c_str());
  }
  set_for_now(const set_for_now&) = delete;
  set_for_now& operator=(const set_for_now&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

}  // namespace tests
