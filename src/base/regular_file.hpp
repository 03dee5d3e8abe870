// SPDX-License-Identifier: Apache-2.0
//
// Files that a variable or a command names. Only regular files are opened: a FIFO would block the job until
// somebody opens its other end, and a device may deliver without end, or do what nobody asked for.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti {

struct file_text {
  std::string text;
  std::string problem;  ///< "NAME cannot be read: ...", "NAME is a FIFO, ..."; empty if it was read
};

/// The first `most` bytes of a regular file. Never blocks on opening.
file_text read_regular_file(const std::string& name, std::size_t most);

/// Replaces the text of a regular file, which is made if it does not exist. Never blocks on opening. Returns
/// the problem, or an empty text if all was written.
std::string write_regular_file(const std::string& name, std::string_view text);

}  // namespace tutti
