// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/segment_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <random>
#include <string_view>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace tutti::shm {
namespace {

constexpr std::string_view folder = "/dev/shm/";
constexpr std::string_view name_prefix = "tutti-segment-";
constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// Beyond the limit, ftruncate() sends SIGXFSZ, which ends the process.
std::string validate_file_limit(std::size_t bytes) {
  rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur)
    return {};
  return "RLIMIT_FSIZE is " + std::to_string(limit.rlim_cur) + " bytes, but the segment takes " +
         std::to_string(bytes);
}

std::string set_size(int file, std::size_t bytes) {
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0) return failed_call("ftruncate", errno);
  return {};
}

std::string close_on_failure(std::string why, int& file) {
  if (why.empty() || file < 0) return why;
  close(file);
  file = -1;
  return why;
}

// Returns false if another leader took the new file for a leftover before it was locked.
bool lock_new_file(int file) noexcept {
  struct stat found;
  if (flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return fstat(file, &found) == 0 && found.st_nlink > 0;
}

std::string validate_size(int file, const std::string& what, std::size_t bytes) {
  struct stat found;
  if (fstat(file, &found) != 0) return failed_call("fstat " + what, errno);
  if (!S_ISREG(found.st_mode)) return what + " is not a regular file";
  if (static_cast<std::size_t>(found.st_size) == bytes) return {};
  return what + " has " + std::to_string(found.st_size) + " bytes instead of " + std::to_string(bytes);
}

std::string validate_seals(int file, const std::string& what) {
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0) return failed_call(what + ": F_GET_SEALS", errno);
  return (seals & size_seals) == size_seals ? "" : what + " can be resized";
}

}  // namespace

std::string failed_call(const std::string& what, int code) {
  return what + ": " + std::generic_category().message(code);
}

std::string draw_nonce(std::uint64_t (&nonce)[2]) {
  try {
    std::random_device random;
    for (std::uint64_t& word : nonce) word = std::uint64_t{random()} << 32 | random();
    return {};
  } catch (const std::exception& e) {
    return std::string("random numbers: ") + e.what();
  }
}

// If memfds without NOEXEC_SEAL are forbidden, it is required. Kernels before 6.3 reject it.
std::string create_memfd(const char* name, std::size_t bytes, int& file) {
  if (std::string why = validate_file_limit(bytes); !why.empty()) return why;
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  file = memfd_create(name, flags | MFD_NOEXEC_SEAL);
  if (file < 0 && errno == EINVAL) file = memfd_create(name, flags);
  if (file < 0) return failed_call("memfd_create", errno);
  std::string why = set_size(file, bytes);
  if (why.empty() && fcntl(file, F_ADD_SEALS, size_seals) != 0) why = failed_call("F_ADD_SEALS", errno);
  return close_on_failure(std::move(why), file);
}

std::string create_named_file(std::size_t bytes, std::uint64_t nonce, int& file, std::string& name) {
  if (std::string why = validate_file_limit(bytes); !why.empty()) return why;
  constexpr int attempts = 100;
  for (int i = 0; i < attempts; ++i) {
    char text[64];
    std::snprintf(text, sizeof text, "%s%d-%016llx-%d", name_prefix.data(), static_cast<int>(getpid()),
                  static_cast<unsigned long long>(nonce), i);
    const std::string path = std::string(folder) + text;
    file = open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return failed_call(path, errno);
    name = text;
    if (lock_new_file(file)) {
      std::string why = set_size(file, bytes);
      if (!why.empty()) remove_named_file(name);
      return close_on_failure(std::move(why), file);
    }
    remove_named_file(name);
    close(file);
  }
  file = -1;
  return "other processes removed " + std::to_string(attempts) + " new files from /dev/shm";
}

void remove_named_file(const std::string& name) noexcept {
  char path[128];
  std::snprintf(path, sizeof path, "%s%s", folder.data(), name.c_str());
  unlink(path);
}

void remove_leftover_files() noexcept {
  DIR* const all = opendir(folder.data());
  if (all == nullptr) return;
  while (const dirent* const entry = readdir(all)) {
    if (std::strncmp(entry->d_name, name_prefix.data(), name_prefix.size()) != 0) continue;
    const int file = openat(dirfd(all), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    struct stat found;
    if (fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0)
      unlinkat(dirfd(all), entry->d_name, 0);
    close(file);
  }
  closedir(all);
}

// The pid may belong to another process by now. Opening some special files has effects, so the file
// is examined first.
std::string open_memfd(int pid, int number, std::size_t bytes, int& file) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, number);
  int handle = open(path, O_PATH | O_CLOEXEC);
  if (handle < 0) return failed_call(path, errno);
  if (std::string why = validate_size(handle, path, bytes); !why.empty())
    return close_on_failure(std::move(why), handle);
  char same[64];
  std::snprintf(same, sizeof same, "/proc/self/fd/%d", handle);
  file = open(same, O_RDWR | O_CLOEXEC);
  const int code = errno;
  close(handle);
  if (file < 0) return failed_call(path, code);
  return close_on_failure(validate_seals(file, path), file);
}

std::string open_named_file(const std::string& name, std::size_t bytes, int& file) {
  const std::string path = std::string(folder) + name;
  file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return failed_call(path, errno);
  return close_on_failure(validate_size(file, path, bytes), file);
}

std::string allocate(int file, std::size_t offset, std::size_t bytes) {
  if (bytes == 0) return {};
  int code = 0;
  do code = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (code == EINTR);
  return code == 0 ? std::string() : failed_call("posix_fallocate", code);
}

}  // namespace tutti::shm
