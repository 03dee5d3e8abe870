// SPDX-License-Identifier: Apache-2.0
//
// Runs another program and reads its output line by line, with a deadline. The program never
// outlives the object. No shell is involved, so file names may contain any character.
#pragma once

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

class child {
 public:
  using clock = std::chrono::steady_clock;

  /// Starts command[0], found in PATH, with empty standard input. Standard error is inherited, or
  /// discarded if `quiet`. Throws if the program cannot be started.
  explicit child(std::vector<std::string> command, std::chrono::seconds limit = std::chrono::minutes(2),
                 bool quiet = false)
      : name_(command.at(0)), deadline_(clock::now() + limit) {
    int pipe[2];
    if (pipe2(pipe, O_CLOEXEC) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
    if (quiet) posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    std::vector<char*> arguments;
    for (std::string& word : command) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const int failed = posix_spawnp(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipe[1]);
    output_ = pipe[0];
    if (failed != 0) {
      close(output_);
      throw std::runtime_error(name_ + ": " + std::strerror(failed));
    }
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;
  ~child() { finish(); }

  /// Reads the next line, without its end. Returns false at the end of the output. Throws when the
  /// time is up.
  bool line(std::string& text) {
    for (std::size_t seen = next_;;) {
      if (const auto end = buffer_.find('\n', seen); end != std::string::npos) {
        text.assign(buffer_, next_, end - next_);
        next_ = end + 1;
        return true;
      }
      buffer_.erase(0, next_);
      next_ = 0;
      seen = buffer_.size();
      if (!fill()) {
        text.swap(buffer_);
        buffer_.clear();
        return !text.empty();
      }
    }
  }

  /// Waits and returns the exit code, or 128 + n if signal n ended the program. Discards unread
  /// output.
  int finish() {
    if (pid_ <= 0) return code_;
    close(output_);
    int status = 0;
    for (bool terminated = false; waitpid(pid_, &status, WNOHANG) == 0; usleep(2000)) {
      const auto late = clock::now() - deadline_;
      if (late > std::chrono::seconds(3)) kill(pid_, SIGKILL);
      if (late > clock::duration::zero() && !terminated) kill(pid_, SIGTERM), terminated = true;
    }
    pid_ = -1;
    return code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  bool fill() {
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - clock::now());
      pollfd waiting{output_, POLLIN, 0};
      const int ready = left.count() > 0 ? poll(&waiting, 1, static_cast<int>(left.count())) : 0;
      if (ready < 0 && errno == EINTR) continue;
      if (ready <= 0) throw std::runtime_error(name_ + ": did not end in time");
      const std::size_t before = buffer_.size();
      buffer_.resize(before + 65536);
      const ssize_t got = read(output_, buffer_.data() + before, 65536);
      buffer_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
      if (got < 0 && errno == EINTR) continue;
      return got > 0;
    }
  }

  std::string name_, buffer_;
  std::size_t next_ = 0;
  clock::time_point deadline_;
  pid_t pid_ = -1;
  int output_ = -1, code_ = 0;
};
