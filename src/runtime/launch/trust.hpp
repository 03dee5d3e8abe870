// SPDX-License-Identifier: Apache-2.0
//
// Which files may be loaded as code into this process. A folder that anybody may create, such as /tmp/lib,
// can be on the search path of a program in /tmp, and the constructors of a library run before anything in it
// can be checked.
#pragma once

#include <filesystem>
#include <string>

namespace tutti {

struct judged_file {
  std::filesystem::path real;  ///< the file with all links followed: what was judged, and is to be loaded
  std::string why_not;         ///< why it must not be, as "belongs to user 1000, ..."; empty: it may be
};

/// Whether `file` may be loaded. It may be if nobody but trusted users can replace it: the file, its folder
/// and all folders above, after links are followed, belong to trusted users, and others may write to none of
/// them (a folder above with the sticky bit is fine). Trusted are root and the user of this process; of a
/// program with other rights than its caller's, root alone. A group may write if it is root's or its number
/// is the owner's, the convention for groups of one user.
///
/// Trusted too is whose code the user runs already: the owner of the shared library that holds this function;
/// in the folders that the program's code or place names (`of_the_installation`), and no variable, the owner
/// of the program's file; and of the folders above the module's own, the owners of those that are above the
/// program as well.
judged_file judge(const std::filesystem::path& file, bool of_the_installation = false);

/// Whether this process has other rights than the one that has started it, which then chooses no code for it.
bool has_rights_of_others() noexcept;

}  // namespace tutti
