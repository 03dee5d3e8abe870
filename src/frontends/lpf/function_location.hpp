// SPDX-License-Identifier: Apache-2.0
//
// The location of a function in a form that is valid in other processes: its file, and its offset
// in the file. It can name static functions too, and does not depend on load addresses.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::lpf {

struct function_location {
  std::string file;          ///< empty: the program itself
  std::uint64_t offset = 0;  ///< from the load address
  /// A hash of the file's layout, which distinguishes files of one name.
  std::uint64_t layout_hash = 0;
  bool null = false;  ///< no function
};

/// The location of a function of this process. Throws std::runtime_error if no file contains it.
function_location location_of(void (*function)());

/// The function of this process at a location. Throws std::runtime_error if the file is not loaded
/// here or differs.
void (*function_at(const function_location& location))();

}  // namespace tutti::lpf
