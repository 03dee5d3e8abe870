// SPDX-License-Identifier: Apache-2.0
//
// Runs tutti's command line and inspects its drawings.
#pragma once

#include <string>
#include <vector>

#include "support/scratch_folder.hpp"
#include "support/shell.hpp"

namespace tool_tests {

using namespace tests;

inline command_result tutti(const std::string& arguments) {
  return shell(std::string("'") + TUTTI_TOOL + "' " + arguments);
}

// Returns a message unless every element that begins also ends, in order, and every < and & is part
// of one.
inline std::string unbalanced(const std::string& xml) {
  std::vector<std::string> open;
  for (std::size_t at = 0; (at = xml.find_first_of("<&", at)) != xml.npos; ++at) {
    const std::size_t end = xml.find(xml[at] == '<' ? '>' : ';', at);
    if (end == xml.npos) return "something does not end at " + xml.substr(at, 20);
    if (xml[at] == '&') {
      const std::string entity = xml.substr(at + 1, end - at - 1);
      if (entity != "lt" && entity != "gt" && entity != "amp" && entity != "quot") return "&" + entity;
      continue;
    }
    const std::string tag = xml.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(tag[0] == '/', tag.find_first_of(" /\n", 1) - (tag[0] == '/'));
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return "</" + name + "> ends nothing";
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> does not end";
}

}  // namespace tool_tests
