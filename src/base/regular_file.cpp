// SPDX-License-Identifier: Apache-2.0
#include "base/regular_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report_text.hpp"

namespace tutti::detail {
namespace {

class descriptor {
 public:
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int operator*() const noexcept { return fd_; }
  bool open() const noexcept { return fd_ >= 0; }
  bool close() noexcept { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

std::string irregular(const std::string& name, const char* verb, const struct stat& about) {
  const char* const kind = irregular_kind(about.st_mode);
  return kind == nullptr ? "" : echoed(name) + " is " + kind + ", and only a regular file can be " + verb;
}

// Examines the file before the open, because opening a device may already have side effects.
// Returns an empty string if there is no such file.
std::string irregular(const std::string& name, const char* verb) {
  struct stat about {};
  return ::stat(name.c_str(), &about) == 0 ? irregular(name, verb, about) : "";
}

// Examines the opened file, which may be another one than the name led to before.
std::string irregular(const std::string& name, const char* verb, int fd) {
  struct stat about {};
  if (::fstat(fd, &about) != 0) return echoed(name) + " cannot be " + verb + ": " + std::strerror(errno);
  return irregular(name, verb, about);
}

}  // namespace

const char* irregular_kind(unsigned mode) noexcept {
  if (S_ISREG(mode)) return nullptr;
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

file_text read_regular_file(const std::string& name, std::size_t max_bytes) {
  file_text made;
  const auto fail = [&] { made.problem = echoed(name) + " cannot be read: " + std::strerror(errno); };
  made.problem = irregular(name, "read");
  if (!made.problem.empty()) return made;
  const descriptor in(::open(name.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (!in.open()) {
    fail();
    return made;
  }
  made.problem = irregular(name, "read", *in);
  constexpr std::size_t part_bytes = 65536;
  // On the heap, because the stack may be a small fiber stack.
  const auto part = std::make_unique<char[]>(part_bytes);
  while (made.problem.empty() && made.text.size() < max_bytes) {
    const ssize_t n = ::read(*in, part.get(), std::min(part_bytes, max_bytes - made.text.size()));
    if (n == 0) break;
    if (n > 0)
      made.text.append(part.get(), static_cast<std::size_t>(n));
    else if (errno != EINTR)
      fail();
  }
  return made;
}

std::string write_regular_file(const std::string& name, std::string_view text) {
  const auto failed = [&] { return echoed(name) + " cannot be written: " + std::strerror(errno); };
  if (std::string problem = irregular(name, "written"); !problem.empty()) return problem;
  descriptor out(::open(name.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY, 0666));
  if (!out.open()) return failed();
  if (std::string problem = irregular(name, "written", *out); !problem.empty()) return problem;
  if (::ftruncate(*out, 0) != 0) return failed();
  while (!text.empty()) {
    const ssize_t n = ::write(*out, text.data(), text.size());
    if (n > 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      return failed();
  }
  return out.close() ? "" : failed();
}

}  // namespace tutti::detail
