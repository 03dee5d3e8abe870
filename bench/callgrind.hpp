// SPDX-License-Identifier: Apache-2.0
//
// Counts the instructions of a program with callgrind. The count is the same on every run and every
// machine, independent of the load. The cost of a call is the difference between a run of many
// calls and one of few.
#pragma once

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include <unistd.h>

namespace bench {

/// Instructions by function. Libraries other than the program and tutti's modules are counted as a
/// whole.
using costs = std::map<std::string, long>;

/// Reads a file that callgrind wrote. The format: https://valgrind.org/docs/manual/cl-format.html
inline costs read_costs(const std::string& file) {
  costs all;
  std::map<std::string, std::string> functions, objects;  // by the numbers that abbreviate names
  std::string function, object;
  const auto named = [](std::map<std::string, std::string>& known, const std::string& text) {
    const auto close = text.find(')');
    if (text.empty() || text[0] != '(' || close == text.npos) return text;
    std::string& name = known[text.substr(0, close)];
    if (close + 2 < text.size()) name = text.substr(close + 2);
    return name;
  };
  bool of_callee = false;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("fn=", 0) == 0) {
      function = named(functions, line.substr(3));
    } else if (line.rfind("cfn=", 0) == 0) {
      named(functions, line.substr(4));
    } else if (line.rfind("ob=", 0) == 0) {
      object = named(objects, line.substr(3));
    } else if (line.rfind("cob=", 0) == 0) {
      named(objects, line.substr(4));
    } else if (line.rfind("calls=", 0) == 0) {
      of_callee = true;  // the next line is the callee's cost
    } else if (!line.empty() && (std::isdigit(static_cast<unsigned char>(line[0])) != 0 || line[0] == '+' ||
                                 line[0] == '-' || line[0] == '*')) {
      if (std::exchange(of_callee, false)) continue;
      const std::string library = object.substr(object.rfind('/') + 1);
      const bool foreign = library.find(".so") != library.npos && library.find("tutti") == library.npos;
      // f'2 is a recursive call of f.
      const std::string plain = function.substr(0, function.find('\''));
      all[foreign ? "in " + library : plain] += std::atol(line.c_str() + line.find(' ') + 1);
    }
  }
  return all;
}

/// The parts of a command: the words before valgrind (a launcher), options of valgrind, and the
/// words after the program's arguments.
struct start {
  std::string before, options, after;
};

/// Returns an empty map if valgrind cannot run.
inline costs run_counted(const std::string& command, const start& how = {}) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("tutti-callgrind-" + std::to_string(getpid()))).string();
  const std::string all = how.before + " valgrind --tool=callgrind '--callgrind-out-file=" + file + "' " +
                          how.options + " " + command + " " + how.after;
  const int status = std::system((all + " > /dev/null 2>&1").c_str());
  costs counted = status == 0 ? read_costs(file) : costs{};
  std::remove(file.c_str());
  return counted;
}

/// Returns the cost of one call on one rank. The number of calls is appended to `command`, and to
/// `how.after` if that is not empty.
inline std::map<std::string, double> per_call(const std::string& command, int ranks, const start& how = {}) {
  constexpr long n = 1000;
  const auto run = [&](long calls) {
    const std::string number = std::to_string(calls);
    return run_counted(command + number,
                       {how.before, how.options, how.after.empty() ? "" : how.after + number});
  };
  const costs few = run(n), many = run(11 * n);
  std::map<std::string, double> each;
  for (const auto& [function, instructions] : many) {
    const auto before = few.find(function);
    const long more = instructions - (before == few.end() ? 0 : before->second);
    if (more >= n) each[function] = static_cast<double>(more) / static_cast<double>(10 * n * ranks);
  }
  return each;
}

}  // namespace bench
