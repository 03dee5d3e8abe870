// SPDX-License-Identifier: Apache-2.0
//
// A seccomp filter with which the kernel refuses process_vm_readv in this process, and the text
// that the process prints.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string>

#include <sys/syscall.h>
#include <unistd.h>

#include "support/system_calls.hpp"

namespace tests {

/// Cannot be undone. Returns false if the kernel has no filters.
inline bool refuse_reads() { return refuse_system_call(SYS_process_vm_readv, EPERM).empty(); }

/// Captures what this process writes to stderr.
class captured_errors {
 public:
  captured_errors() : file_(std::tmpfile()), saved_(dup(2)) {
    std::fflush(stderr);
    dup2(fileno(file_), 2);
  }
  ~captured_errors() {
    restore();
    std::fclose(file_);
  }
  captured_errors(const captured_errors&) = delete;
  captured_errors& operator=(const captured_errors&) = delete;

  std::string text() {
    restore();
    std::string all;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) all += static_cast<char>(c);
    return all;
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stderr);
    dup2(saved_, 2);
    close(saved_);
    saved_ = -1;
  }

  std::FILE* file_;
  int saved_;
};

}  // namespace tests
