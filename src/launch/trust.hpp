// SPDX-License-Identifier: Apache-2.0
//
// Which files may be loaded as code into this process. A folder that anybody may create, such as /tmp/lib,
// can be on the search path of a program in /tmp, and the constructors of a library run before anything in it
// can be checked.
#pragma once

#include <filesystem>
#include <string>

namespace tutti {

/// Why `file` must not be loaded, as "belongs to user 1000, ..."; empty: it may be. It may be if nobody but
/// trusted users can replace it: the file, its folder and all folders above, after links are followed, belong
/// to trusted users, and others may write to none of them (a folder above with the sticky bit is fine).
/// Trusted are root, the user of this process, and whoever could replace the program itself: the owners of
/// its file and of the folders above that. A group may write if it is root's or its number is the owner's,
/// the convention for groups of one user.
std::string why_not_trusted(const std::filesystem::path& file);

}  // namespace tutti
