// SPDX-License-Identifier: Apache-2.0
//
// How many instructions a program executes, as callgrind counts them: the same on every run and every
// machine, however loaded. A call's price is what a run of many calls has more than one of few.
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

/// Instructions by function; those of libraries other than the program and tutti's modules by library.
using costs = std::map<std::string, long>;

/// Of a file that callgrind wrote. The format: https://valgrind.org/docs/manual/cl-format.html
inline costs read_costs(const std::string& file) {
  costs all;
  std::map<std::string, std::string> functions, objects;  // by the numbers that stand for names
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
      of_callee = true;  // the next line is what the callee cost
    } else if (!line.empty() && (std::isdigit(static_cast<unsigned char>(line[0])) != 0 || line[0] == '+' ||
                                 line[0] == '-' || line[0] == '*')) {
      if (std::exchange(of_callee, false)) continue;
      const std::string library = object.substr(object.rfind('/') + 1);
      const bool foreign = library.find(".so") != library.npos && library.find("tutti") == library.npos;
      const std::string plain = function.substr(0, function.find('\''));  // f'2 is f called by f
      all[foreign ? "in " + library : plain] += std::atol(line.c_str() + line.find(' ') + 1);
    }
  }
  return all;
}

/// How a program is started: what stands before valgrind (a launcher), what is told to valgrind, and what
/// follows the program's arguments.
struct start {
  std::string before, options, after;
};

/// Empty where valgrind cannot be run.
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

/// What one call costs on one rank. `command` ends where the number of calls goes, and so does what follows
/// it, where something does.
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
