// SPDX-License-Identifier: Apache-2.0
//
// Declares the tables of examples of headers and documents for the programs that run them.
// examples.awk generates the tables.
#pragma once

#include <cassert>
#include <cstdio>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"
#include "tutti/version.hpp"

struct example {
  std::string source;  // the header or document
  int line;
  void (*on_each_rank)(tutti::communicator& world);  // or:
  int (*program)(int argc, char** argv);  // both null: it is in another program
};

extern const std::vector<example> examples;
extern const std::vector<std::string> sources;
