// SPDX-License-Identifier: Apache-2.0
//
// Calling the command line, and looking at what it draws.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>

namespace tool_tests {

struct ending {
  int status = -1;
  std::string text;  // of both outputs
};

inline ending shell(const std::string& command) {
  ending e;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  char part[4096];
  for (std::size_t n; (n = fread(part, 1, sizeof part, pipe)) > 0;) e.text.append(part, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) e.status = WEXITSTATUS(status);
  return e;
}

inline ending tutti(const std::string& arguments) {
  return shell(std::string("'") + TUTTI_TOOL + "' " + arguments);
}

// A folder for files of one test; it goes with them.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "tutti-tool-").string() + "XXXXXX";  // as mkdtemp wants it
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for files");
    where_ = name;
  }
  ~scratch_folder() { std::filesystem::remove_all(where_); }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  std::string path(const std::string& name) const { return (where_ / name).string(); }
  /// With this text in it.
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(where_ / name) << text;
    return path(name);
  }

 private:
  std::filesystem::path where_;
};

// Every element that begins ends, in order, and every < and & is part of one.
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
