// SPDX-License-Identifier: Apache-2.0
//
// The file that a long command writes at its end: tested before the command begins, and written
// completely or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace tutti::tool {

/// The file of --output. If `named` is a folder: `name`.json in it. Throws called_wrongly if it
/// cannot be written.
std::filesystem::path output_path(const std::string& named, const std::string& name);

/// Writes the whole file or nothing, even if a signal interrupts. Throws called_wrongly.
void write_atomically(const std::filesystem::path& path, const std::string& text);

/// Parses "120s", "2m" or "90". Returns a negative number if the text has another form.
double read_seconds(const std::string& text);

}  // namespace tutti::tool
