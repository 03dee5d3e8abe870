// SPDX-License-Identifier: Apache-2.0
#include "simulation/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include <sys/resource.h>

namespace tutti::simulation {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

double free_memory() {
  std::ifstream in("/proc/meminfo");
  std::string name, unit;
  double kilobytes = 0;
  while (in >> name >> kilobytes) {
    std::getline(in, unit);
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return unknown;
}

double number_in(const char* file) {
  std::ifstream in(file);
  double n = 0;
  return in >> n ? n : unknown;  // "max" is no number
}

}  // namespace

double available_memory() {
  double bytes = free_memory();
  const double limit = number_in("/sys/fs/cgroup/memory.max"),
               used = number_in("/sys/fs/cgroup/memory.current");
  if (limit != unknown && used != unknown) bytes = std::min(bytes, std::max(0.0, limit - used));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, static_cast<double>(space.rlim_cur));
  return bytes;
}

}  // namespace tutti::simulation
