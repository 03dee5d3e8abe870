// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/process_identity.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tutti::shm {
namespace {

// The fields of /proc/PID/stat.
struct process_status {
  long pid = 0;
  char state = '?';
  unsigned long threads = 0;
  std::uint64_t start = 0;
};

// Fields 3, 20 and 22 of the file. The name of the program, field 2, is in parentheses and may
// contain any character, so the fields are counted from the last parenthesis.
bool parse_status(const char* text, process_status& into) noexcept {
  const char* at = std::strrchr(text, ')');
  if (at == nullptr || at[1] != ' ') return false;
  into.pid = std::strtol(text, nullptr, 10);
  into.state = at[2];
  at += 2;
  for (int field = 3; field < 22; ++field) {
    at = std::strchr(at, ' ');
    if (at == nullptr) return false;
    ++at;
    if (field + 1 == 20) into.threads = std::strtoul(at, nullptr, 10);
    if (field + 1 == 22) into.start = std::strtoull(at, nullptr, 10);
  }
  return into.start != 0;
}

bool read_status(const char* path, process_status& into) noexcept {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char text[1024];
  ssize_t got = 0;
  do got = read(file, text, sizeof text - 1);
  while (got < 0 && errno == EINTR);
  close(file);
  if (got <= 0) return false;
  text[got] = '\0';
  return parse_status(text, into);
}

bool read_status(std::int32_t pid, process_status& into) noexcept {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  return read_status(path, into);
}

std::uint64_t namespace_inode(const char* path) noexcept {
  struct stat found;
  return stat(path, &found) == 0 ? found.st_ino : 0;
}

}  // namespace

process_identity this_process() noexcept {
  process_identity self;
  self.pid = getpid();
  self.pid_namespace = namespace_inode("/proc/self/ns/pid");
  self.time_namespace = namespace_inode("/proc/self/ns/time");
  // If /proc belongs to another PID namespace, its pids are not those of getpid().
  process_status shown;
  if (read_status("/proc/self/stat", shown) && shown.pid == self.pid) self.start = shown.start;
  return self;
}

bool is_alive(const process_identity& process, const process_identity& self) noexcept {
  if (process.pid_namespace != self.pid_namespace) return true;
  const auto exists = [&] { return kill(process.pid, 0) == 0 || errno != ESRCH; };
  if (self.start == 0 || process.start == 0 || process.time_namespace != self.time_namespace) return exists();
  process_status now;
  if (!read_status(process.pid, now)) return exists();  // hidden by /proc, or gone
  if (now.start != process.start || now.state == 'X' || now.state == 'x') return false;
  return now.state != 'Z' || now.threads > 1;
}

}  // namespace tutti::shm
