// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch/trust.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/regular_file.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* program = "/proc/self/exe";

std::vector<uid_t> trusted_users(bool of_installation) {
  if (has_elevated_privileges()) return {0};
  std::vector<uid_t> users{0, geteuid()};
  struct stat about {};
  if (of_installation && stat(program, &about) == 0) users.push_back(about.st_uid);
  // A statically linked program has no name in the loader's list, and its caller chooses argv[0].
  Dl_info found{};
  link_map* map = nullptr;
  if (dladdr1(reinterpret_cast<const void*>(&has_elevated_privileges), &found, reinterpret_cast<void**>(&map),
              RTLD_DL_LINKMAP) != 0 &&
      map != nullptr && map->l_name != nullptr && map->l_name[0] == '/' && stat(map->l_name, &about) == 0)
    users.push_back(about.st_uid);
  return users;
}

// The owner of such a folder can replace the program, and needs no module for that.
bool contains_program(const fs::path& folder) {
  std::error_code error;
  const std::string exe = fs::read_symlink(program, error).string(), above = (folder / "").string();
  return !error && !has_elevated_privileges() && exe.compare(0, above.size(), above) == 0;
}

bool is_writable_by_others(const struct stat& about) {
  const bool group = (about.st_mode & S_IWGRP) != 0 && about.st_gid != 0 && about.st_gid != about.st_uid;
  return group || (about.st_mode & S_IWOTH) != 0;
}

// `real` must be a path without links. Returns an empty text if the file may be loaded.
std::string reason_not_trusted(const fs::path& real, const std::vector<uid_t>& trusted) {
  const fs::path folder = real.parent_path();
  for (fs::path at = real;; at = at.parent_path()) {
    struct stat about {};
    const std::string what = at == real ? "" : "is in " + at.string() + ", which ";
    if (lstat(at.c_str(), &about) != 0) return what + "cannot be looked up: " + std::strerror(errno);
    if (std::find(trusted.begin(), trusted.end(), about.st_uid) == trusted.end() &&
        (at == real || at == folder || !contains_program(at)))
      return what + "belongs to user " + std::to_string(about.st_uid) +
             (trusted.size() == 1 ? ", who is not root" : ", who is neither root nor the user");
    const bool sticky_above = at != real && at != folder && (about.st_mode & S_ISVTX) != 0;
    if (is_writable_by_others(about) && !sticky_above) return what + "can be written by other users";
    if (at == at.parent_path()) return {};
  }
}

}  // namespace

bool has_elevated_privileges() noexcept { return getauxval(AT_SECURE) != 0; }

trust_decision decide_trust(const fs::path& file, bool of_installation) {
  std::error_code error;
  fs::path real = fs::canonical(file, error);
  if (error) return {{}, "cannot be looked up: " + error.message()};
  struct stat about {};
  if (stat(real.c_str(), &about) != 0) return {{}, std::string("cannot be looked up: ") + std::strerror(errno)};
  // The loader would wait for a writer of a FIFO.
  if (const char* const kind = irregular_kind(about.st_mode))
    return {std::move(real), std::string("is ") + kind + ", and only a regular file can be loaded"};
  std::string reason = reason_not_trusted(real, trusted_users(of_installation));
  return {std::move(real), std::move(reason)};
}

}  // namespace tutti::detail
