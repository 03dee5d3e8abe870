// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes files that a variable or a command names. Only regular files are opened. A FIFO
// would block the job until another process opens its other end. A device may deliver data without
// end or have side effects.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tutti::detail {

/// Names the kind of a file that is not regular: "a FIFO"; null for a regular file. `mode` comes
/// from stat().
const char* irregular_kind(unsigned mode) noexcept;

struct file_text {
  std::string text;
  /// "NAME cannot be read: ...", "NAME is a FIFO, ..."; empty if the file was read.
  std::string problem;
};

/// Returns the first `max_bytes` bytes of a regular file. The open never blocks.
file_text read_regular_file(const std::string& name, std::size_t max_bytes);

/// Replaces the contents of a regular file and creates the file if necessary. The open never
/// blocks. Returns the problem, or an empty string if all of `text` was written.
std::string write_regular_file(const std::string& name, std::string_view text);

}  // namespace tutti::detail
