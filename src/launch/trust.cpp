// SPDX-License-Identifier: Apache-2.0
#include "launch/trust.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace tutti {
namespace {

namespace fs = std::filesystem;

std::vector<uid_t> trusted_users() {
  std::vector<uid_t> users{0, geteuid()};
  std::error_code error;
  for (fs::path at = fs::canonical("/proc/self/exe", error); !at.empty(); at = at.parent_path()) {
    struct stat about {};
    if (stat(at.c_str(), &about) == 0) users.push_back(about.st_uid);
    if (at == at.parent_path()) break;
  }
  return users;
}

bool others_may_write(const struct stat& about) {
  const bool group = (about.st_mode & S_IWGRP) != 0 && about.st_gid != 0 && about.st_gid != about.st_uid;
  return group || (about.st_mode & S_IWOTH) != 0;
}

}  // namespace

std::string why_not_trusted(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) return "cannot be looked up: " + error.message();
  const std::vector<uid_t> trusted = trusted_users();
  const fs::path folder = real.parent_path();
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat about {};
    const std::string what = at == real ? "" : "is in " + at.string() + ", which ";
    if (stat(at.c_str(), &about) != 0) return what + "cannot be looked up: " + std::strerror(errno);
    if (std::find(trusted.begin(), trusted.end(), about.st_uid) == trusted.end())
      return what + "belongs to user " + std::to_string(about.st_uid) + ", who is neither root nor the user";
    const bool sticky_above = at != real && at != folder && (about.st_mode & S_ISVTX) != 0;
    if (others_may_write(about) && !sticky_above) return what + "can be written by other users";
    if (at == at.parent_path()) return {};
  }
}

}  // namespace tutti
