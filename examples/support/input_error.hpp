// SPDX-License-Identifier: Apache-2.0
//
// The exception of the readers: missing or malformed input, in the form of compilers: "FILE:LINE:
// message".
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>

class input_error : public std::runtime_error {
 public:
  input_error(const std::string& file, const std::string& problem)
      : std::runtime_error(file + ": " + problem) {}
  input_error(const std::string& file, std::size_t line, const std::string& problem)
      : std::runtime_error(file + ":" + std::to_string(line) + ": " + problem) {}
};
