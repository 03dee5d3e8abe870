// SPDX-License-Identifier: Apache-2.0
//
// Runs parts of a test in processes of their own, which may lose rights or die.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <exception>
#include <functional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/system_calls.hpp"

namespace tests {

/// A child process, which the destructor kills.
class child_process {
 public:
  /// The child runs `body`, sends its text and exits.
  explicit child_process(const std::function<std::string()>& body) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      std::string text;
      try {
        text = body();
      } catch (const std::exception& e) {
        text = std::string("exception: ") + e.what();
      }
      _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    close(ends[1]);
    text_ = ends[0];
  }
  ~child_process() {
    if (text_ >= 0) close(text_);
    if (pid_ > 0 && !reaped_) kill(pid_, SIGKILL), reap();
  }
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  int pid() const noexcept { return pid_; }
  void reap() {
    waitpid(pid_, &status_, 0);
    reaped_ = true;
  }
  /// The text of the child, or how it died.
  std::string result() {
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(text_, part, sizeof part)) > 0;) text.append(part, static_cast<std::size_t>(n));
    reap();
    if (WIFSIGNALED(status_)) return "signal " + std::to_string(WTERMSIG(status_));
    return WEXITSTATUS(status_) == 0 ? text : "exit status " + std::to_string(WEXITSTATUS(status_));
  }

 private:
  int pid_ = -1, text_ = -1, status_ = 0;
  bool reaped_ = false;
};

inline std::string in_child(const std::function<std::string()>& body) { return child_process(body).result(); }

/// Skips the test if the child could not set up its conditions.
#define SKIP_IF_REFUSED(text) \
  if ((text).rfind("refused: ", 0) == 0) GTEST_SKIP() << (text)

/// True if `condition` holds within about 30 s. The intervals become longer, so that many waiting
/// processes leave the cores to the others.
inline bool eventually(const std::function<bool()>& condition) {
  for (int i = 1; i < 1'500; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(std::min(i, 20))))
    if (condition()) return true;
  return false;
}

inline bool write_text(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

/// Mounts a /dev/shm of this size for this process alone. Returns a reason if that is refused.
inline std::string limit_dev_shm(const std::string& size) {
  const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
  const bool root = geteuid() == 0;
  if (unshare(root ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) != 0) return "refused: no mount namespace";
  if (!root)
    if (!write_text("/proc/self/setgroups", "deny") || !write_text("/proc/self/uid_map", "0 " + uid + " 1") ||
        !write_text("/proc/self/gid_map", "0 " + gid + " 1"))
      return "refused: no user namespace";
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", "/dev/shm", "tmpfs", 0, ("mode=1777,size=" + size).c_str()) != 0)
    return "refused: no mount of /dev/shm";
  return {};
}

}  // namespace tests
