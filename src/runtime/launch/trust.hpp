// SPDX-License-Identifier: Apache-2.0
//
// Decides which files may be loaded as code into this process. The search path of a program in /tmp
// can contain a folder that anybody may create, such as /tmp/lib. The constructors of a library run
// before anything in it can be checked.
#pragma once

#include <filesystem>
#include <string>

namespace tutti::detail {

struct trust_decision {
  /// The file with all links resolved: the one that was judged, and that must be loaded.
  std::filesystem::path real;
  /// Why it may not be loaded, as "belongs to user 1000, ..."; empty: it may be loaded.
  std::string reason;
};

/// Whether `file` may be loaded. It may if it is a regular file that only trusted users can
/// replace. So the file, its folder and all folders above, with links resolved, must belong to
/// trusted users. Others may
/// write to none of them, except to a folder further up with the sticky bit. Trusted users are root
/// and the user of this process. In a setuid program only root is trusted. A group may write if it
/// is root's, or if its id equals the owner's id, the convention for groups of one user.
///
/// Users whose code the user already runs are trusted too. One is the owner of the shared library
/// that holds this function. If `of_installation`, the owner of the program's file is another:
/// the program's code or location names these folders, no variable does. For the folders above the
/// module's own, the owners of those that also contain the program are trusted.
trust_decision decide_trust(const std::filesystem::path& file, bool of_installation = false);

/// Whether this process has other rights than the process that started it (setuid, setgid). The
/// caller may not choose code for it then.
bool has_elevated_privileges() noexcept;

}  // namespace tutti::detail
