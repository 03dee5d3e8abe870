// SPDX-License-Identifier: Apache-2.0
#include "simulation/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>

namespace tutti::simulation {
namespace {

constexpr double unknown_bytes = std::numeric_limits<double>::infinity();

struct file_names {
  const char *limit, *used, *droppable;  // the last one is a line of memory.stat
};
constexpr file_names version_1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr file_names version_2{"memory.max", "memory.current", "inactive_file"};

double number_in(const std::string& file) {
  std::ifstream in(file);
  double n = 0;
  return in >> n ? n : unknown_bytes;  // "max" is no number
}

double droppable_bytes(const std::string& file, std::string_view line) {
  std::ifstream in(file);
  std::string name;
  for (double n = 0; in >> name >> n;)
    if (name == line) return n;
  return 0;
}

double left_in(const std::string& folder, const file_names& names) {
  const double limit = number_in(folder + "/" + names.limit), used = number_in(folder + "/" + names.used);
  if (limit == unknown_bytes || used == unknown_bytes) return unknown_bytes;
  const double droppable = droppable_bytes(folder + "/memory.stat", names.droppable);
  return std::max(0.0, limit - std::max(0.0, used - droppable));
}

// The least of a group and of those above it. A container may see only some of them: it sees its
// own group as the root.
double left_above(const std::string& root, std::string path, const file_names& names) {
  if (path.find("/..") != path.npos) path.clear();  // outside of what this process sees
  while (path.ends_with('/')) path.pop_back();
  double least = left_in(root, names);
  for (; !path.empty(); path.erase(path.rfind('/'))) least = std::min(least, left_in(root + path, names));
  return least;
}

bool has_controller(const std::string& controllers, std::string_view name) {
  std::istringstream in(controllers);
  for (std::string one; std::getline(in, one, ',');)
    if (one == name) return true;
  return false;
}

}  // namespace

double memory_of_control_groups(std::string_view groups, const std::string& mount) {
  double least = unknown_bytes;
  std::istringstream lines{std::string(groups)};
  // A line is NUMBER:CONTROLLERS:PATH. Version 2 has no controllers there.
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos || line.compare(second + 1, 1, "/") != 0) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      path = line.substr(second + 1);
    if (controllers.empty())
      least = std::min(
          {least, left_above(mount, path, version_2), left_above(mount + "/unified", path, version_2)});
    else if (has_controller(controllers, "memory"))
      least = std::min(least, left_above(mount + "/memory", path, version_1));
  }
  return least;
}

}  // namespace tutti::simulation
