// SPDX-License-Identifier: Apache-2.0
//
// The location of a function in a form that is valid in other processes: its file, and its offset
// there. So even static functions can be named, wherever files are loaded.
#pragma once

#include <cstdint>
#include <string>

namespace tutti::lpf {

struct function_location {
  std::string file;          ///< empty: the program itself
  std::uint64_t offset = 0;  ///< from the load address
  /// A hash of the file's layout, which another file of that name would not have.
  std::uint64_t call_key = 0;
  bool null = false;  ///< no function
};

/// The location of a function of this process. Throws std::runtime_error if no file holds it.
function_location place_of(void (*function)());

/// The function of this process at a location. Throws std::runtime_error if the file is not loaded
/// here or differs.
void (*function_at(const function_location& place))();

}  // namespace tutti::lpf
