// SPDX-License-Identifier: Apache-2.0
#include "simulation/available_memory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

#include "simulation/control_groups.hpp"

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

// That this process uses. Of what the file states, it is the first number, in pages.
double address_space() {
  std::ifstream in("/proc/self/statm");
  double pages = 0;
  return in >> pages ? pages * static_cast<double>(sysconf(_SC_PAGESIZE)) : 0;
}

std::string contents(const char* file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

double available_memory() {
  double bytes = free_memory();
  bytes = std::min(bytes, memory_of_control_groups(contents("/proc/self/cgroup")));
  rlimit space{};
  if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    bytes = std::min(bytes, std::max(0.0, static_cast<double>(space.rlim_cur) - address_space()));
  return bytes;
}

}  // namespace tutti::simulation
