// SPDX-License-Identifier: Apache-2.0
//
// What a reader throws: input that is missing or malformed, said as compilers say it: "FILE:LINE: what is
// wrong".
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
